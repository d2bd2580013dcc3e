/** What modules ask of the browser while they are loaded: its languages. Import it before them. */
Object.defineProperty(globalThis, "navigator", { value: { languages: ["tlh", "en-GB"] }, configurable: true });
