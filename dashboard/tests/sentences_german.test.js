import { sentencesIn } from "./sentences_in.js";

process.env.TZ = "Europe/Berlin";
await sentencesIn({ tag: "de-AT", stop: ".", comma: "." });
