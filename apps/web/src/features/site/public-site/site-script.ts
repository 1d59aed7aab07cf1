import { themeChanged, themeStorageKey } from "~/ui/theme.ts";

/**
 * Everything that public pages do in the browser, since visitors get no app to do it: the theme switch, the menu on a
 * phone, buttons that copy, and `/` for the page's search. Runs at the end of the body. Needs the CSP nonce.
 */
export const siteScript = `(()=>{
const radios=()=>document.querySelectorAll("[data-theme-switch] input");
const mark=()=>{let theme="system";try{theme=localStorage.getItem("${themeStorageKey}")||theme}catch{}
for(const radio of radios())radio.checked=radio.value===theme};
mark();addEventListener("storage",mark);
for(const radio of radios())radio.addEventListener("change",()=>{
try{localStorage.setItem("${themeStorageKey}",radio.value)}catch{}
dispatchEvent(new Event("${themeChanged}"))});
document.addEventListener("keydown",event=>{
const search=document.querySelector("[data-page-search]"),target=event.target;
if(event.key!=="/"||!search||event.ctrlKey||event.metaKey||event.altKey||target.closest?.("input,textarea,select,[contenteditable]"))return;
try{if(localStorage.getItem("shortcuts")==="off")return}catch{}
event.preventDefault();search.focus()});
document.addEventListener("click",event=>{
const target=event.target instanceof Element?event.target:null;if(!target)return;
const opener=target.closest("[data-opens]");
if(opener)document.getElementById(opener.dataset.opens).showModal();
if(target.closest("[data-closes]")||target.localName==="dialog")target.closest("dialog").close();
const copier=target.closest("[data-copies]");
if(copier)navigator.clipboard.writeText(document.getElementById(copier.dataset.copies).textContent).then(()=>{
copier.dataset.copied="";copier.setAttribute("aria-label","Copied");
setTimeout(()=>{delete copier.dataset.copied;copier.setAttribute("aria-label",copier.title)},2000)},()=>{})})})()`;
