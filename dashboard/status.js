/** The public status page of a site: the link's secret stands behind `#`, which no server and no log gets. */
import { h, render } from "./vendor/preact.js";
import { startTicking } from "./lib/clock.js";
import { language, wordsLoaded } from "./lib/language.js";
import { StatusPage } from "./views/status_page.js";

startTicking();
document.documentElement.lang = language;
addEventListener("hashchange", () => location.reload());
const root = document.getElementById("app");
wordsLoaded().then(() => root && render(h(StatusPage, { secret: location.hash.slice(1) }), root));
