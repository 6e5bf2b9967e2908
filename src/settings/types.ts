import type { BodyChoice } from "../body-forms.ts";
import type { Policy } from "../policy.ts";

/** A value and where it came from, for messages: `--base-url`, `RAGTAG_BASE_URL`, `profile NAME` or `default`. */
export type Setting<Value> = { readonly value: Value; readonly origin: string };

/** What the command line said. Only what was given is there. */
export type SettingFlags = {
	readonly baseUrl?: string | undefined;
	readonly apiKeyFile?: string | undefined;
	readonly profile?: string | undefined;
	readonly stateDir?: string | undefined;
	readonly caFile?: string | undefined;
};

/** The world that settings are read from. Injected, so that a test needs no process. */
export type SettingSources = {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly home: string | undefined;
	/** the whole standard input as text: called only for `--api-key-file -` */
	readonly stdin: () => Promise<string>;
	/** takes a warning, one sentence without a line end */
	readonly warn: (text: string) => void;
	/** aborted when the user wants to end */
	readonly signal?: AbortSignal;
	/** user id of this process; asked of the system where it is not given */
	readonly uid?: number | undefined;
};

/** Requests a second at most. */
export type RateSetting = number | "unlimited";

/** One profile of config.yaml, checked. Paths are absolute. */
export type Profile = {
	readonly name: string;
	readonly baseUrl?: string;
	readonly apiKeyFile?: string;
	readonly apiKeyCommand?: string;
	readonly caFile?: string;
	readonly dataset?: string;
	readonly rate?: RateSetting;
	readonly body?: BodyChoice;
	/** checked where flavours are known */
	readonly flavour?: string;
	readonly policy?: Policy;
	readonly requireHttps?: boolean;
};

export type Settings = {
	/** address of the service as it was given, checked, without a trailing slash */
	readonly baseUrl: Setting<string> | undefined;
	/** the address, or the usage error that says how to give one */
	requireBaseUrl(): Setting<string>;
	/**
	 * The API key. Nothing is read before the first call, and it is read once.
	 *
	 * Rejects with a usage error where there is none, where its file is not safe, and where it may not go to this address.
	 */
	key(): Promise<string>;
	/** where the key will come from, without reading it */
	readonly keyOrigin: string | undefined;
	readonly dataset: Setting<string> | undefined;
	readonly rate: Setting<RateSetting> | undefined;
	readonly body: Setting<BodyChoice> | undefined;
	readonly flavour: Setting<string> | undefined;
	/** no flag and no variable gives another one, or none */
	readonly policy: Setting<Policy> | undefined;
	readonly requireHttps: boolean;
	/** further certificates to trust: one file at most, the first source that names one */
	readonly caFiles: readonly Setting<string>[];
	/** the texts of `caFiles`, each checked to hold a certificate; a usage error otherwise */
	readCa(): Promise<string[]>;
	/** undefined only where there is neither a home folder nor a setting */
	readonly stateDir: Setting<string> | undefined;
	readonly profile: Setting<string> | undefined;
};
