import type { BodyChoice } from "./body-forms.ts";
import { type CliError, usageError } from "./errors.ts";
import type { Io, Timers } from "./io.ts";
import { ADVISED_RATE, isEverAuto, MAX_CONCURRENCY, type RateSetting } from "./rates.ts";
import { createApi } from "./rest/api.ts";
import { documented, type Flavour, flavourNamed } from "./rest/flavours.ts";
import { proxyFor } from "./rest/proxy.ts";
import type { Api, Exchange } from "./rest/types.ts";
import { normaliseBaseUrl } from "./rest/url.ts";
import { LONGEST_TIMER_MS } from "./run/clock.ts";
import type { SharedCap } from "./run/rate/shared/shared-cap.ts";
import type { RunMonitor } from "./run/rate/run-monitor.ts";
import { MOST_ASKED, RateControl } from "./run/rate/rate-control.ts";
import { checkingAddress, requestWithRetry } from "./run/retry/request.ts";
import { flavourNames } from "./run/service/detect-flavour.ts";
import { fileMemory } from "./run/service/service-memory.ts";
import { Service } from "./run/service/service.ts";
import type { Clock, Request } from "./run/types.ts";
import type { Settings } from "./settings.ts";
import { holdsKey, redactor } from "./text/redactor.ts";

/** The options of a session. For an undefined member the profile decides, then the default. */
export type SessionOptions = {
	/** the most requests a second */
	readonly rate?: RateSetting | undefined;
	/** milliseconds for one request */
	readonly timeout?: number | undefined;
	readonly body?: BodyChoice | undefined;
	/** name of a flavour; undefined to detect it */
	readonly flavour?: string | undefined;
	/** the most requests in flight; a connection carries one at a time */
	readonly concurrency?: number | "auto" | undefined;
	/** the longest outage, in milliseconds */
	readonly maxOutage?: number | undefined;
	/** called after each request */
	readonly onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** A connection to the service. Every request of a command passes its one limiter and its one cooldown. */
export type Session = Awaited<ReturnType<typeof openSession>>;

type SessionDependencies = {
	readonly io: Io;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly clock: Clock;
	readonly timers: AppTimers;
	readonly signal: AbortSignal;
	readonly monitor: RunMonitor;
};

/** The wall clock, and calls at intervals of so many milliseconds until the returned function is called. */
export type AppTimers = Pick<Timers, "date" | "every">;

/** How often a timetable is read, in milliseconds. */
const TICK_MS = 1000;

/** Milliseconds for one request, if no flag gives another time. */
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Opens a session with the service of these settings. It sends no request.
 *
 * @throws CliError (usage) if there is no address, no key, or no flavour of that name
 */
export async function openSession(
	settings: Settings,
	options: SessionOptions,
	{ io, env, clock, timers, signal, monitor }: SessionDependencies,
) {
	const baseUrl = normaliseBaseUrl(settings.requireBaseUrl().value);
	const key = await settings.key();
	// Plans, records of runs and messages contain the address.
	if (holdsKey(baseUrl, key)) {
		throw usageError(
			"the address of the service holds the API key; nothing was sent",
			"Give only the address; the key is sent in a header of each request.",
		);
	}
	const redact = redactor(key);
	io.hide(key);
	const asked = options.rate ?? settings.rate?.value;
	const setting = asked ?? ADVISED_RATE;
	const form = options.body ?? settings.body?.value ?? "auto";
	const flavour = givenFlavour(options.flavour, settings);
	const timeout = Math.min(options.timeout ?? DEFAULT_TIMEOUT_MS, LONGEST_TIMER_MS);
	// An address that contains a piece of the key is written to no file.
	const stateDir = redact(baseUrl) === baseUrl ? settings.stateDir?.value : undefined;
	const date = timers.date;
	const note = (text: string): void => io.note(text);
	if (settings.limiter !== undefined && isEverAuto(setting)) throw autoIsShared(settings.limiter.origin);
	const rates = new RateControl({ setting, clock, date, monitor, isAsked: asked !== undefined });
	const onExchange = (exchange: Exchange): void => {
		const { method, path, status, result, milliseconds } = exchange;
		if (io.isDebugging)
			io.debug(`${method} ${path} → ${status ?? "no answer"} ${result}, ${Math.round(milliseconds)} ms`);
		options.onExchange?.(exchange);
	};
	const ca = await settings.readCa();
	const { concurrency = "auto" } = options;
	let hadSurplusAnswer = false;
	const api = createApi({
		baseUrl,
		key,
		dialect: { flavour: documented, form: documented.update.forms[0] },
		timeout,
		// At most; one is opened when a request needs it. Lists and probes may be in flight beside the rows.
		connections: Math.max(MAX_CONCURRENCY, concurrency === "auto" ? MOST_ASKED : concurrency),
		ca,
		onSurplusAnswer: () => void (hadSurplusAnswer = true),
		proxy: proxyFor(baseUrl, env),
		onExchange,
		onBytes: (bytes) => monitor.live.moved(bytes),
		lists: monitor.lists,
	});
	const { limiter, cooldown } = rates;
	let sharedCap: SharedCap | undefined;
	if (settings.limiter !== undefined) {
		const url = settings.limiter.value;
		if (url.password !== "") io.hide(decodeURIComponent(url.password));
		// Loaded late, as few runs need a client of Redis.
		const { openSharedCap } = await import("./run/rate/shared/open.ts");
		sharedCap = await openSharedCap({ url, baseUrl, key, ca, setting, date, clock, cooldown, note });
		limiter.share(sharedCap);
	}
	const stopTicks = timers.every(TICK_MS, () => rates.tick());
	const service = new Service({
		api,
		memory: stateDir === undefined ? undefined : fileMemory(stateDir, baseUrl),
		clock,
		maxOutage: options.maxOutage,
		now: Date.now,
		flavour,
		form: form === "auto" ? undefined : form,
		note,
		redact,
	});
	await service.remember();
	monitor.searched = () => rates.searched;
	monitor.enter("reading", `from ${new URL(baseUrl).host}`);
	const requestWithin = (maxOutage: number | undefined): Request =>
		checkingAddress(
			(call) => requestWithRetry(call, rates, { maxOutage, signal }),
			() => api.probeList(),
		);
	return {
		/** the knowledge about the service, which grows while it is used */
		service,
		/** as `normaliseBaseUrl` gives it */
		baseUrl,
		/** the service in the dialect that is known now */
		get api(): Api {
			return service.api;
		},
		/** the state of the command and its cause */
		monitor,
		/** the pace of all requests, which may change while a run goes on */
		rates,
		/** the state of a cap that other runs share; undefined without `--limiter` */
		sharedCap,
		/** milliseconds for one request */
		timeout,
		/** whether an answer came that no request had waited for: answers before it may belong to other rows */
		get hadSurplusAnswer(): boolean {
			return hadSurplusAnswer;
		},
		/** sends a request, and again after a failure that may pass; for lists and other reads */
		request: requestWithin(options.maxOutage),
		/** the same with another longest outage, in milliseconds */
		requestWithin,
		/** the same for a request that must not be applied twice */
		requestOnce: ((call) => requestWithRetry(call, rates, { idempotent: false, signal })) satisfies Request,
		/** sends a request a single time; for a read that a command can do without */
		tryRequest: ((call) => rates.send(call, signal)) satisfies Request,
		async close(): Promise<void> {
			stopTicks();
			limiter.close();
			await sharedCap?.close();
			await api.close();
		},
	};
}

/** A rate that each run finds for itself is no cap of all runs. @param origin of the shared cap: `--limiter` or a variable */
function autoIsShared(origin: string): CliError {
	return usageError(
		`a rate that is looked for (auto) can't be the cap that runs share by ${origin}; nothing was sent`,
		`Give the shared cap: --rate N. Or leave ${origin} out: then each run looks for its own part.`,
	);
}

/** The flavour that the command line or the profile names. @throws CliError (usage) if there is no such flavour */
function givenFlavour(name: string | undefined, settings: Settings): { value: Flavour; origin: string } | undefined {
	const given = name === undefined ? settings.flavour : { value: name, origin: "--flavour" };
	if (given === undefined || given.value === "auto") return undefined;
	const value = flavourNamed(given.value);
	if (value !== undefined) return { value, origin: given.origin };
	throw usageError(
		`${given.origin}: there is no flavour ${JSON.stringify(given.value)}`,
		`Take one of ${flavourNames.join(", ")}, or leave it out: the flavour is detected.`,
	);
}
