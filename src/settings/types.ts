/** A value and where it came from, for messages: `--base-url`, `RAGTAG_BASE_URL`, `profile NAME` or `default`. */
export type Setting<Value> = { readonly value: Value; readonly origin: string };

/** The flags that were given. `limiter` is the address of a Redis: only commands that send requests have this flag. */
export type SettingFlags = {
	readonly [Name in "baseUrl" | "apiKeyFile" | "apiKeyCommand" | "profile" | "stateDir" | "caFile" | "limiter"]?:
		| string
		| undefined;
};

/** The sources of settings. Injected, so that a test needs no process. */
export type SettingSources = {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly home: string | undefined;
	/** the whole standard input as text; called only for `--api-key-file -` */
	readonly stdin: () => Promise<string>;
	/** prints a warning, which is one sentence without a line end */
	readonly warn: (text: string) => void;
	/** aborted when the user wants to end */
	readonly signal?: AbortSignal | undefined;
	/** user id of this process; undefined asks the system */
	readonly uid?: number | undefined;
};
