import { join } from "node:path";
import { X509Certificate } from "node:crypto";
import { type CliError, reason, usageError } from "./errors.ts";
import { isLoopback, isPlainHttp, limiterUrl } from "./settings/address.ts";
import { HOW_TO_GIVE_A_KEY, type KeySource, readKey } from "./settings/key.ts";
import { checkKeysTarget, chosenFrom, flag, ofProfile, variable } from "./settings/precedence.ts";
import type { Profile } from "./settings/profile.ts";
import type { Setting, SettingFlags, SettingSources } from "./settings/types.ts";
import { KEEP_RUNS } from "./text/times.ts";
import { readInput } from "./input-file.ts";

export type { Setting, SettingFlags, SettingSources } from "./settings/types.ts";

export type Settings = Awaited<ReturnType<typeof resolveSettings>>;

/**
 * Each setting from its first source: flag, the profile of `--profile`, environment, the profile of `RAGTAG_PROFILE`, default.
 *
 * An empty variable counts as unset: CI systems set a variable to the empty text if a branch does not have it. An empty flag
 * is a usage error: it comes from a script's variable that was not set.
 */
export async function resolveSettings(flags: SettingFlags, sources: SettingSources) {
	const { env } = sources;
	if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
		throw usageError(
			"NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of the service's certificate",
			"Unset it, and give the certificate of your own authority with --ca-file.",
		);
	}
	const name = flag("--profile", flags.profile) ?? variable(env, "RAGTAG_PROFILE");
	// Loaded late: most calls use no profile, and the YAML parser would take a fifth of the program's start.
	const profile =
		name === undefined
			? undefined
			: await (await import("./settings/profile.ts")).readProfile(name.value, name.origin, sources);
	const { baseUrl, keySource, caFile, limiter, unused } = chosenFrom(flags, env, profile, name?.origin === "--profile");
	if (profile?.requireHttps === true && baseUrl !== undefined && isPlainHttp(baseUrl.value)) {
		throw usageError(`profile ${profile.name} requires https, and the address in ${baseUrl.origin} is http`);
	}

	if (unused.length > 0) {
		const variables = unused.join(" and ");
		sources.warn(
			`${variables} ${unused.length > 1 ? "are" : "is"} not used: --profile ${profile?.name} is used instead`,
		);
	}
	let key: Promise<string> | undefined;
	let ca: Promise<string[]> | undefined;

	return {
		/** the address of the service as it was given, checked, without a slash at the end */
		baseUrl,
		/** @throws CliError (usage) if there is no address; it says how to give one */
		requireBaseUrl(): Setting<string> {
			if (baseUrl !== undefined) return baseUrl;
			throw usageError(
				"no service address is set",
				"Set RAGTAG_BASE_URL, as in RAGTAG_BASE_URL=https://rag.example.com; `ragtag sandbox` serves the API here and prints its address.",
			);
		},
		/**
		 * The API key. It is read once: standard input can't be read twice, and a password manager would ask twice. Rejects with a
		 * usage error if there is no key, if its file is not safe, or if it may not go to this address.
		 */
		key: (): Promise<string> => (key ??= allowedKey(keySource, baseUrl, profile, sources)),
		/** where the key comes from; it is not read for this */
		keyOrigin: keySource?.origin,
		dataset: ofProfile(profile, profile?.dataset),
		rate: ofProfile(profile, profile?.rate),
		body: ofProfile(profile, profile?.body),
		flavour: ofProfile(profile, profile?.flavour),
		/** no flag and no variable can change or remove it */
		policy: ofProfile(profile, profile?.policy),
		/** the address of the job's monitor; no output repeats its path */
		ping: ofProfile(profile, profile?.ping),
		/** milliseconds after the end of a run, or "forever" */
		keepRuns: ofProfile(profile, profile?.keepRuns) ?? { value: KEEP_RUNS, origin: "default" },
		/** the address of the Redis that shares the cap, checked; it may hold a password */
		limiter: limiter && { value: limiterUrl(limiter.value, limiter.origin), origin: limiter.origin },
		/** the file of further certificates to trust */
		caFile,
		/** its text, which is read once; rejects with a usage error if it has no certificate or a broken one */
		readCa: (): Promise<string[]> => (ca ??= readCertificates(caFile)),
		/** undefined only if there is neither a home folder nor a setting */
		stateDir: flag("--state-dir", flags.stateDir) ?? variable(env, "RAGTAG_STATE_DIR") ?? defaultStateDir(sources),
		profile: name,
	};
}

/** The key. @throws CliError (usage) if it may not go to this address */
async function allowedKey(
	source: KeySource | undefined,
	baseUrl: Setting<string> | undefined,
	profile: Profile | undefined,
	sources: SettingSources,
): Promise<string> {
	if (source === undefined) throw usageError("no API key is set", HOW_TO_GIVE_A_KEY);
	if (baseUrl !== undefined) checkKeysTarget(source, baseUrl, profile, sources.env);
	if (baseUrl !== undefined && isPlainHttp(baseUrl.value) && !isLoopback(baseUrl.value)) {
		sources.warn(`${baseUrl.value} is plain http: the key and metadata can be read on the network`);
	}
	return readKey(source, sources);
}

function defaultStateDir({ env, home }: SettingSources): Setting<string> | undefined {
	const folder = env["XDG_STATE_HOME"];
	// The XDG specification says to ignore a relative folder.
	if (folder?.startsWith("/")) return { value: join(folder, "ragtag"), origin: "default" };
	return home === undefined ? undefined : { value: join(home, ".local", "state", "ragtag"), origin: "default" };
}

const CERTIFICATE =
	/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** 16 MiB: a bundle of all authorities that browsers trust has half a MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file of certificates (PEM). Each is parsed now, so that a broken one is refused before the first request. */
async function readCertificates(file: Setting<string> | undefined): Promise<string[]> {
	if (file === undefined) return [];
	const { value: path, origin } = file;
	const broken = (what: string, cause?: unknown): CliError =>
		usageError(
			`the certificate file of ${origin}, ${path}, ${what}`,
			"It must hold certificates as text, each between BEGIN CERTIFICATE and END CERTIFICATE.",
			cause,
		);
	let text: string;
	try {
		text = (await readInput(path, MAX_BYTES)).toString("utf8");
	} catch (error) {
		throw broken(`cannot be read: ${reason(error)}`, error);
	}
	const found = text.match(CERTIFICATE) ?? [];
	if (found.length === 0) throw broken("holds no certificate");
	found.forEach((certificate, index) => {
		try {
			// The constructor throws for a broken certificate.
			void new X509Certificate(certificate);
		} catch (error) {
			throw broken(`has a certificate that cannot be read, number ${index + 1}`, error);
		}
	});
	return [text];
}

/** The CI system of an environment: its documentation names these variables for programs that want to know. */
export function ciOf(env: Readonly<Record<string, string | undefined>>) {
	const text = (name: string): string | undefined => env[name] || undefined;
	const isGitHub = env["GITHUB_ACTIONS"] === "true";
	return {
		/** undefined outside GitHub Actions and GitLab CI */
		system: isGitHub ? "github" : env["GITLAB_CI"] === "true" ? "gitlab" : undefined,
		/** the folder of the repository, absolute; undefined where none is named */
		workspace: isGitHub ? text("GITHUB_WORKSPACE") : text("CI_PROJECT_DIR"),
		/** the file that GitHub shows as the summary of the step */
		stepSummary: text("GITHUB_STEP_SUMMARY"),
	} as const;
}
