import type { BodyChoice } from "../body-forms.ts";
import type { Policy } from "../policy.ts";
import type { RateSetting } from "../rates.ts";

/** A value and where it came from, for messages: `--base-url`, `RAGTAG_BASE_URL`, `profile NAME` or `default`. */
export type Setting<Value> = { readonly value: Value; readonly origin: string };

/** The flags that were given. */
export type SettingFlags = {
	readonly baseUrl?: string | undefined;
	readonly apiKeyFile?: string | undefined;
	readonly apiKeyCommand?: string | undefined;
	readonly profile?: string | undefined;
	readonly stateDir?: string | undefined;
	readonly caFile?: string | undefined;
	/** the address of a Redis; only commands that send requests have this flag */
	readonly limiter?: string | undefined;
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

/** The time for which records of finished runs are kept, in milliseconds since their end. */
export type KeepRuns = number | "forever";

/** One profile of config.yaml, checked. Paths are absolute. */
export type Profile = {
	readonly name: string;
	readonly baseUrl?: string | undefined;
	readonly apiKeyFile?: string | undefined;
	readonly apiKeyCommand?: string | undefined;
	readonly caFile?: string | undefined;
	readonly dataset?: string | undefined;
	readonly rate?: RateSetting | undefined;
	readonly body?: BodyChoice | undefined;
	/** a name; checked by `src/app.ts`, which knows the flavours */
	readonly flavour?: string | undefined;
	readonly policy?: Policy | undefined;
	readonly requireHttps?: boolean | undefined;
	readonly keepRuns?: KeepRuns | undefined;
	/** the address of a monitor, checked */
	readonly ping?: string | undefined;
	/** the address of a Redis, checked */
	readonly limiter?: string | undefined;
};

export type Settings = {
	/** the address of the service as it was given, checked, without a slash at the end */
	readonly baseUrl: Setting<string> | undefined;
	/** @throws CliError (usage) if there is no address; it says how to give one */
	requireBaseUrl(): Setting<string>;
	/**
	 * The API key. It is read once, at the first call.
	 *
	 * Rejects with a usage error if there is no key, if its file is not safe, or if it may not go to this address.
	 */
	key(): Promise<string>;
	/** where the key comes from; it is not read for this */
	readonly keyOrigin: string | undefined;
	readonly dataset: Setting<string> | undefined;
	readonly rate: Setting<RateSetting> | undefined;
	readonly body: Setting<BodyChoice> | undefined;
	readonly flavour: Setting<string> | undefined;
	/** no flag and no variable can change or remove it */
	readonly policy: Setting<Policy> | undefined;
	readonly requireHttps: boolean;
	/** 90 days unless a profile says otherwise */
	readonly keepRuns: Setting<KeepRuns>;
	/** the address of the job's monitor; no output repeats its path */
	readonly ping: Setting<string> | undefined;
	/** the address of the Redis that shares the cap, checked; it may hold a password */
	readonly limiter: Setting<URL> | undefined;
	/** files of further certificates to trust: at most one, from the first source that names one */
	readonly caFiles: readonly Setting<string>[];
	/** the texts of `caFiles`; rejects with a usage error if one has no certificate or a broken one */
	readCa(): Promise<string[]>;
	/** undefined only if there is neither a home folder nor a setting */
	readonly stateDir: Setting<string> | undefined;
	readonly profile: Setting<string> | undefined;
};
