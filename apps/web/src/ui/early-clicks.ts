/**
 * Runs in the head, before the page's own script. A button that is pressed before React has hydrated it would do nothing,
 * and a form would reload the page with its fields in the address. This keeps the last such press and repeats it once
 * React owns the button, which it marks with a property of this prefix. Needs the CSP nonce.
 */
export const earlyClickScript = `(()=>{
const owned=e=>Object.keys(e).some(k=>k.startsWith("__reactProps$"));
let kept=null;
const repeat=()=>{
if(!kept||!kept.isConnected)return;
if(!owned(kept))return setTimeout(repeat,50);
const button=kept;kept=null;button.click()};
const keep=button=>{const waits=kept!==null;kept=button;if(!waits)setTimeout(repeat)};
addEventListener("click",event=>{
const button=event.target instanceof Element?event.target.closest("button"):null;
if(button&&button.type!=="submit"&&!owned(button))setTimeout(()=>owned(button)||keep(button))},true);
addEventListener("submit",event=>{
const form=event.target,button=event.submitter;
if(!button||owned(form)||form.getAttribute("method")==="post")return;
event.preventDefault();setTimeout(()=>owned(form)||keep(button))},true)})()`;
