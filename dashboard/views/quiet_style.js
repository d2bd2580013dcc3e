/** The style of everything about quiet times: it is fetched with the first view that needs it, not with the page. */
const link = document.createElement("link");
link.rel = "stylesheet";
link.href = new URL("../quiet_times.css", import.meta.url).href;
await new Promise((resolve) => {
  link.onload = link.onerror = resolve; // without it the view is plain, but there
  document.head.append(link);
});

export const quietClass = "quiet-times";
