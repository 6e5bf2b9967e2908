import { randomUUID } from "node:crypto";
import { CliError, Exit, type ExitCode, errorCode, reason } from "../../../errors.ts";
import { type RateSetting, minuteOfDay, rateAt } from "../../../rates.ts";
import { isCertificateError } from "../../../rest/errors.ts";
import { runsText } from "../../../text/words.ts";
import type { Clock } from "../../types.ts";
import type { Cooldown } from "../cooldown.ts";
import { RIGHTS, nameOfCap, redisStore } from "./redis.ts";
import { type Share, SharedCap } from "./shared-cap.ts";

type SharedLimiterOptions = {
	/** of Redis; it may hold a password */
	readonly url: URL;
	/** the service and its key, whose cap is shared */
	readonly baseUrl: string;
	readonly key: string;
	/** further certificates to trust */
	readonly ca: readonly string[];
	/** the cap; not the present rate, which `runs adjust` and keys change for one run alone */
	readonly setting: RateSetting;
	readonly date: () => Date;
	readonly clock: Clock;
	readonly cooldown: Cooldown;
	/** prints a note, which is one sentence */
	readonly note: (text: string) => void;
};

/** Shares a cap with all runs of the same service and key. @throws CliError exit 2, 4 or 6 */
export async function openSharedCap(options: SharedLimiterOptions): Promise<SharedCap> {
	const { url, baseUrl, key, ca, setting, date, clock, cooldown, note } = options;
	const where = `Redis at ${url.host}`;
	const cap = (): number | undefined => {
		const rate = rateAt(setting, minuteOfDay(date()));
		return typeof rate === "number" ? rate : undefined;
	};
	const store = redisStore(url, await nameOfCap(baseUrl, key), ca);
	const shared = await SharedCap.start({
		store,
		clock,
		cap,
		run: randomUUID(),
		onCooldown: (milliseconds) => cooldown.extendAsOthers(milliseconds),
		onAway: (error, share) => note(`${where} ${awayText(error)}: this run goes on ${shareText(share)}.`),
		onBack: () => note(`${where} answers again: the cap is shared again.`),
	}).catch((error: unknown) => {
		store.close();
		throw refusal(where, error);
	});
	cooldown.onAsked = (milliseconds) => shared.cool(milliseconds);
	note(startText(shared.share, cap()));
	return shared;
}

function startText({ cap, runs }: Share, own: number | undefined): string {
	const others = runs === 1 ? "No other run shares it now" : `It is shared by ${runsText(runs)} now`;
	if (cap === undefined) return `The limiter is shared, without a cap. ${others}.`;
	const why = own !== undefined && cap >= own ? "" : ", as another run has a lower --rate";
	return `The cap of ${rounded(cap)} requests a second is shared${why}. ${others}.`;
}

function awayText(error: unknown): string {
	if (error === undefined) return "was emptied";
	return isReply(error) ? `refuses the shared limiter (${wordsOf(error)})` : "does not answer";
}

function shareText({ cap, runs }: Share): string {
	if (cap === undefined) return "without the shared cap";
	return `at its share, ${rounded(cap / runs)} of ${rounded(cap)} requests a second (${runsText(runs)})`;
}

function rounded(rate: number): string {
	return String(Number(rate.toPrecision(3)));
}

function isReply(error: unknown): boolean {
	return error instanceof Error && error.name === "ReplyError";
}

/** The words of Redis, without the place in the script. */
function wordsOf(error: unknown): string {
	return reason(error).replace(/\.? script: [0-9a-f]+, on @user_script:\d+\.?$/, "");
}

/** Errors of Redis, with why it can't share a cap, what to do and the exit code. The first that fits counts. */
const REFUSALS: readonly (readonly [words: RegExp, hint: string, exit: ExitCode])[] = [
	[/^(?:NOPERM|ERR The user executing the script can't run)/, `Its user needs these rights: ${RIGHTS}`, Exit.usage],
	[
		/\bWRONGTYPE\b/,
		"Another program uses this key: delete it, or give another database, as in redis://HOST:6379/1.",
		Exit.usage,
	],
	[
		/^(?:MOVED|ASK|CROSSSLOT|CLUSTERDOWN|ERR SELECT is not allowed in cluster mode)/,
		"It belongs to a Redis Cluster, which can't share a cap: give the address of a Redis that is none.",
		Exit.usage,
	],
	[
		/\b(?:OOM|READONLY|MISCONF|NOREPLICAS|LOADING|BUSY|MASTERDOWN)\b/,
		"Give the address of a Redis that takes writes, make room there, or try again.",
		Exit.temporary,
	],
];

const SETTINGS_HINT =
	"Check the user, the password and the number of the database in the address, and that it is Redis 5 or newer.";

function refusal(where: string, error: unknown): CliError {
	const text = wordsOf(error);
	const refused = (why: string, hint: string, exit: ExitCode = Exit.usage): CliError =>
		new CliError(`${where} ${why}: ${text}; nothing was sent`, { exit, hint, cause: error });
	if (isReply(error)) {
		const [, hint = SETTINGS_HINT, exit] = REFUSALS.find(([words]) => words.test(text)) ?? [];
		return refused("refuses the shared limiter", hint, exit);
	}
	if (isCertificateError(errorCode(error) ?? "")) {
		return refused(
			"shows a certificate that is not trusted",
			"Name the certificate of its authority with --ca-file, with ca_file in the profile, or with NODE_EXTRA_CA_CERTS.",
			Exit.untrusted,
		);
	}
	return refused(
		"can't be reached",
		"Start it and try again, with rediss:// where it speaks TLS; or leave --limiter out and give each run its part with --rate N.",
		Exit.temporary,
	);
}
