/**
 * Runs in the head, before the page's modules. What someone does on a page that React has not hydrated yet would be
 * lost: a press does nothing, a form that is submitted reloads the page with its fields in the URL, and what is typed,
 * ticked or chosen is shown, but React doesn't know it. This remembers the last press, and the fields and boxes with
 * their latest values, and repeats them once React owns the element: first the fields, each in a task of its own, so
 * that React has rendered before the next, then the press. If React made a button anew instead, the only one that
 * reads the same is pressed; it is waited for as long as 100 looks, 5 s or more, since a part of the page that is
 * rendered anew may show its pending state in between. Never on another page. While React listens (its mark on the
 * document), it hydrates what is pressed by itself, unless its code isn't loaded yet. Then it stops the event on the
 * document, and may own the element a moment later: so the event is looked at there, right after React.
 *
 * React marks an element when it first tries to hydrate it, which it gives up and repeats where code or data is
 * missing. It owns the element when no part of the page around it is still being hydrated or placed; React's own check
 * looks at the same flags. React takes the value that is there then as known, so its tracker of the value is told
 * another one before the field's event. A field that has the focus gets that told, too: arrow keys start from there.
 * Needs the CSP nonce.
 */
export const earlyInputScript = `(()=>{
const mark=(e,name)=>Object.keys(e).find(k=>k.startsWith(name));
const hydrating=f=>!!f&&!f.alternate&&((f.flags&4098)!==0||hydrating(f.return));
const owned=e=>!!mark(e,"__reactProps$")&&!hydrating(e[mark(e,"__reactFiber$")]);
const like=a=>[...document.querySelectorAll("button")].filter(b=>b.textContent===a.textContent&&b.ariaLabel===a.ariaLabel);
const boxes="[role=checkbox],[role=switch],[role=radio]";
const isNativeBox=e=>e.type==="checkbox"||e.type==="radio";
const fields=new Map;
let press=null,at,timer=null,gone=0;
const wake=ms=>{timer??=setTimeout(repeat,ms)};
const repeat=()=>{
timer=null;
for(const[field,value]of fields){
if(field.isConnected&&!owned(field))continue;
fields.delete(field);
if(field.isConnected)tell(field,value);
return wake()}
if(press&&!press.isConnected){
const[one,...more]=like(press);
gone=one?0:gone+1;
if(more.length||gone>100||at!==location.pathname)press=null;
else if(one)press=one}
const form=press?.form;
if(press&&owned(press)&&!(form&&[...fields.keys()].some(e=>form.contains(e)))){const button=press;press=null;button.click()}
if(press||fields.size)wake(50)};
const tell=(field,value)=>{
if(document.activeElement===field)field.dispatchEvent(new FocusEvent("focusin",{bubbles:true}));
if(field.matches(boxes)){if((field.ariaChecked==="true")!==value)field.click();return}
if(isNativeBox(field)){field.checked=!value;field.click();return}
if(field.type!=="file"&&field.value!==value)field.value=value;
field._valueTracker?.setValue(value+" ");
for(const type of["input","change"])field.dispatchEvent(new Event(type,{bubbles:true}))};
const listens=()=>!!mark(document,"_reactListening");
const unless=(event,element,keep)=>listens()?document.addEventListener(event.type,()=>{
if(event.cancelBubble||!owned(element))keep()},{capture:true,once:true}):keep();
const keepPress=button=>{press=button;at=location.pathname;gone=0;wake()};
const keepField=(field,value)=>{fields.set(field,value);wake()};
addEventListener("click",event=>{
const target=event.target instanceof Element?event.target.closest("button,"+boxes):null;
if(!target||target.type==="submit"||owned(target))return;
if(!target.matches(boxes))return unless(event,target,()=>keepPress(target));
const isOn=fields.get(target)??target.ariaChecked==="true";
unless(event,target,()=>keepField(target,target.role==="radio"||!isOn))},true);
addEventListener("input",({target})=>{
if(!fields.has(target)&&(owned(target)||!target.matches("input,textarea,select")))return;
fields.delete(target.closest("label")?.querySelector(boxes));
keepField(target,isNativeBox(target)?target.checked:target.value)},true);
addEventListener("submit",event=>{
const form=event.target,button=event.submitter;
if(!button||owned(form)||form.getAttribute("method")==="post")return;
event.preventDefault();unless(event,form,()=>keepPress(button))},true)})()`;
