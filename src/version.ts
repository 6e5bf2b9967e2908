declare const __RAGTAG_VERSION__: string | undefined;

/** The version of package.json, set by the build. It is `0.0.0-dev` if the program runs from its sources. */
export const VERSION = typeof __RAGTAG_VERSION__ === "string" ? __RAGTAG_VERSION__ : "0.0.0-dev";
