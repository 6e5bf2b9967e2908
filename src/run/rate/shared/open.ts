import { randomUUID } from "node:crypto";
import { CliError, errorCode, Exit, type ExitCode, reason } from "../../../errors.ts";
import { isCertificateError } from "../../../rest/errors.ts";
import { minuteOfDay, rateAt, type RateSetting } from "../../../rates.ts";
import { runsText } from "../../../text/words.ts";
import type { Clock } from "../../types.ts";
import type { Cooldown } from "../cooldown.ts";
import type { AdjustableLimiter } from "../limiter.ts";
import { nameOfCap } from "./identity.ts";
import { redisStore } from "./redis-store.ts";
import { RIGHTS } from "./script.ts";
import { SharedCap } from "./shared-cap.ts";
import type { Share } from "./store.ts";

type SharedLimiterOptions = {
	/** of Redis; it may hold a password */
	readonly url: URL;
	/** the service and its key, whose cap is shared */
	readonly baseUrl: string;
	readonly key: string;
	/** further certificates to trust */
	readonly ca: readonly string[];
	/** as for `SharedCap` */
	readonly cap: () => number | undefined;
	readonly clock: Clock;
	readonly limiter: AdjustableLimiter;
	readonly cooldown: Cooldown;
	/** prints a note, which is one sentence */
	readonly note: (text: string) => void;
};

/** Makes a limiter share its cap with all runs of the same service and key. @throws CliError exit 2 or 6 */
async function shareLimiter(options: SharedLimiterOptions): Promise<SharedCap> {
	const { url, baseUrl, key, ca, cap, clock, limiter, cooldown, note } = options;
	const where = `Redis at ${url.host}`;
	const store = redisStore(url, await nameOfCap(baseUrl, key), ca);
	const shared = await SharedCap.start({
		store,
		clock,
		cap,
		run: randomUUID(),
		onCooldown: (milliseconds) => cooldown.extendAsOthers(milliseconds),
		onShare: (share) => {
			limiter.setCeiling(share?.rate);
			note(share === undefined ? `${where} answers again: the cap is shared again.` : awayText(where, share));
		},
	}).catch((error: unknown) => {
		store.close();
		throw refusal(where, error);
	});
	limiter.share(shared);
	cooldown.onAsked = (milliseconds) => shared.cool(milliseconds);
	note(startText(shared.share, cap()));
	return shared;
}

/** The same by the settings of a session. */
export function shareCapOf(
	setting: RateSetting,
	date: () => Date,
	options: Omit<SharedLimiterOptions, "cap">,
): Promise<SharedCap> {
	// Not the session's rate: `runs adjust` and keys change that of one run.
	const cap = (): number | undefined => {
		const rate = rateAt(setting, minuteOfDay(date()));
		return typeof rate === "number" ? rate : undefined;
	};
	return shareLimiter({ ...options, cap });
}

function awayText(where: string, { rate, cap, runs }: Share): string {
	const part =
		rate === undefined
			? "without the shared cap"
			: `at its share, ${rounded(rate)} of ${rounded(cap ?? rate)} requests a second (${runsText(runs)})`;
	return `${where} does not answer: this run goes on ${part}.`;
}

function startText({ cap, runs }: Share, own: number | undefined): string {
	const others = runs === 1 ? "No other run shares it now" : `It is shared by ${runsText(runs)} now`;
	if (cap === undefined) return `The limiter is shared, without a cap. ${others}.`;
	const why = own !== undefined && cap >= own ? "" : ", as another run has a lower --rate";
	return `The cap of ${rounded(cap)} requests a second is shared${why}. ${others}.`;
}

function rounded(rate: number): string {
	return String(Number(rate.toPrecision(3)));
}

/** The first words of an error of a Redis that is part of a cluster, whose keys may be on another node. */
const CLUSTER = /^(?:MOVED|ASK|CROSSSLOT|CLUSTERDOWN|ERR SELECT is not allowed in cluster mode)/;

/** Those of a wrong configuration: the rights of the user; the password, the release, the database. */
const RIGHTS_MISSING = /^(?:NOPERM|ERR The user executing the script can't run)/;
const REFUSED = /^(?:WRONGPASS|NOAUTH|ERR)/;

function refusal(where: string, error: unknown): CliError {
	const text = reason(error);
	const refused = (why: string, hint: string, exit: ExitCode = Exit.usage): CliError =>
		new CliError(`${where} ${why}; nothing was sent`, { exit, hint, cause: error });
	if (CLUSTER.test(text)) {
		return refused(
			`belongs to a Redis Cluster, which can't share a cap: ${text}`,
			"Give the address of a Redis that is none.",
		);
	}
	if (RIGHTS_MISSING.test(text)) {
		return refused(`refuses the shared limiter: ${text}`, `Its user needs these rights: ${RIGHTS}`);
	}
	if (REFUSED.test(text)) {
		return refused(
			`refuses the shared limiter: ${text}`,
			"Check the user, the password and the number of the database in the address, and that it is Redis 5 or newer.",
		);
	}
	if (isCertificateError(errorCode(error) ?? "")) {
		return refused(
			`shows a certificate that is not trusted: ${text}`,
			"Name the certificate of its authority with --ca-file, with ca_file in the profile, or with NODE_EXTRA_CA_CERTS.",
			Exit.untrusted,
		);
	}
	return refused(
		`can't be reached: ${text}`,
		"Start it and try again, with rediss:// where it speaks TLS; or leave --limiter out and give each run its part with --rate N.",
		Exit.temporary,
	);
}
