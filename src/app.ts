import { setMaxListeners } from "node:events";
import { tmpdir } from "node:os";
import type { BodyChoice } from "./body-forms.ts";
import { CliError, Exit } from "./errors.ts";
import type { Io } from "./io.ts";
import { untilStopped } from "./io/input.ts";
import { createApi } from "./rest/api.ts";
import { createPreflight, type Preflight } from "./rest/preflight.ts";
import { documented, type Flavour, flavourNamed } from "./rest/flavours.ts";
import { normaliseBaseUrl } from "./rest/url.ts";
import { proxyFor } from "./rest/proxy.ts";
import type { Api, Exchange } from "./rest/types.ts";
import { systemClock } from "./run/clock.ts";
import { MAX_CONCURRENCY } from "./run/rate/concurrency-search.ts";
import { createLimiter, unlimited } from "./run/rate/limiter.ts";
import { ADVISED_RATE } from "./run/rate/concurrency.ts";
import { Cooldown, paced } from "./run/rate/cooldown.ts";
import type { Request, Clock, Limiter } from "./run/types.ts";
import { requestWithRetry } from "./run/retry/request.ts";
import type { Processes } from "./run/storage/process-owner.ts";
import { RunStore } from "./run/recorded/run-store.ts";
import { currentUserId } from "./run/storage/private-folders.ts";
import { TemporaryFolders } from "./run/storage/temporary-folders.ts";
import { flavourNames } from "./run/service/detect-flavour.ts";
import { RememberedDatasets } from "./run/service/remembered-datasets.ts";
import { fileMemory, noMemory } from "./run/service/service-memory.ts";
import { Service } from "./run/service/service.ts";
import { resolveSettings, type SettingFlags, type Settings } from "./settings.ts";
import { holdsKey, redactor } from "./text/redactor.ts";

export { createIo } from "./io.ts";
export { strayKeys } from "./text/stray-keys.ts";
export type { SettingFlags, Settings } from "./settings.ts";

/** How a command wants to talk to the service. What is undefined comes from the profile, then from the default. */
export type SessionOptions = {
	/** requests a second at most */
	readonly rate?: number | "unlimited" | undefined;
	/** milliseconds for one request */
	readonly timeout?: number | undefined;
	readonly body?: BodyChoice | undefined;
	/** name of a flavour; found out where it is undefined */
	readonly flavour?: string | undefined;
	/** told of every request when it has ended */
	readonly onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** A connection to the service: every request of a command passes its one limiter. */
export type Session = {
	/** what is known of the service, and learned while it is used */
	readonly service: Service;
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** the service in the dialect that is known now */
	readonly api: Api;
	readonly limiter: Limiter;
	/** what the service asked to wait: one for all requests, those of rows included */
	readonly cooldown: Cooldown;
	/** requests a second at most; undefined for no cap */
	readonly rate: number | undefined;
	/** milliseconds for one request */
	readonly timeout: number;
	/** one request that is tried again where that may help; lists and other reads */
	readonly request: Request;
	/** the same for a request that must not be applied twice */
	readonly requestOnce: Request;
	close(): Promise<void>;
};

/** The one place where the parts are joined. Commands take it and know nothing of the process around them. */
export type App = {
	readonly io: Io;
	readonly clock: Clock;
	/** aborted with a `Stop` when the user wants to end */
	readonly signal: AbortSignal;
	readonly stdin: AsyncIterable<Uint8Array>;
	settings(flags: SettingFlags): Promise<Settings>;
	/**
	 * The folder for what a command must keep aside: below the state folder, open to its owner alone. `close` removes it.
	 *
	 * @throws CliError exit 2 or 7 where a folder that was asked for can't be made, or is not the user's own
	 */
	temporaryFolder(settings: Settings): Promise<string>;
	connect(settings: Settings, options: SessionOptions): Promise<Session>;
	/** The address as recorded runs have it; undefined where none is set. @throws CliError exit 2 where it is none */
	baseUrl(settings: Settings): string | undefined;
	/** Where runs are recorded. @throws CliError exit 2 where there is no place for them */
	runs(settings: Settings): RunStore;
	/** The names of all profiles, in the order of the file; none where there is no file. @throws CliError exit 2 */
	profiles(): Promise<readonly string[]>;
	/** The datasets that the service of these settings was last seen to have; undefined where nothing may be kept. */
	rememberedDatasets(settings: Settings): Promise<RememberedDatasets | undefined>;
	/** what locks need to know of processes */
	readonly processes: Processes;
	/**
	 * The way to the service, to be looked at before anything is sent. `timeout` is in milliseconds, for each look.
	 *
	 * @throws CliError exit 2 where the address can't be used
	 */
	preflight(settings: Settings, timeout: number | undefined): Preflight;
	/** Removes what commands kept aside. */
	close(): Promise<void>;
};

export type AppDependencies = {
	readonly io: Io;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly home: string | undefined;
	readonly stdin: AsyncIterable<Uint8Array>;
	readonly signal: AbortSignal;
	readonly processes: Processes;
	readonly clock?: Clock;
};

/** Milliseconds that a timer can wait at most, 24 days: one that is given more fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Requests a second, and milliseconds for one request, where nothing says otherwise. */
const DEFAULT_TIMEOUT = 60_000;

export function createApp(dependencies: AppDependencies): App {
	const { io, env, home, signal, processes, clock = systemClock } = dependencies;
	const stdin = untilStopped(dependencies.stdin, signal);
	// Every look at a document that waits for its turn listens to it: that is no leak to warn a user of.
	setMaxListeners(0, signal);
	const warned = new Set<string>();
	// A command may read its settings twice: a recorded run says which profile was its.
	const warn = (text: string): void => {
		if (!warned.has(text)) io.note(`warning: ${text}`);
		warned.add(text);
	};
	const user = { uid: currentUserId(), note: (text: string) => io.note(text) };
	const temporary = new TemporaryFolders(processes, user);
	const readStdin = async (): Promise<string> => {
		const chunks: Uint8Array[] = [];
		for await (const chunk of stdin) chunks.push(chunk);
		return Buffer.concat(chunks).toString("utf8");
	};
	return {
		io,
		clock,
		signal,
		stdin,
		profiles: async () => (await import("./settings/profile.ts")).profileNames({ env, home }),
		rememberedDatasets: async (settings) => {
			const { baseUrl, stateDir } = settings;
			if (baseUrl === undefined || stateDir === undefined) return undefined;
			return new RememberedDatasets(stateDir.value, normaliseBaseUrl(baseUrl.value));
		},
		settings: (flags) => resolveSettings(flags, { env, home, stdin: readStdin, signal, warn }),
		processes,
		runs: ({ stateDir }) => {
			if (stateDir !== undefined) return new RunStore(stateDir.value, user);
			throw new CliError("runs can't be recorded, because there is no home folder; nothing was sent", {
				exit: Exit.usage,
				hint: "Name one with --state-dir DIR or RAGTAG_STATE_DIR.",
			});
		},
		temporaryFolder: async ({ stateDir }) =>
			stateDir === undefined ? tmpdir() : temporary.of(stateDir.value, stateDir.origin),
		close: () => temporary.close(),
		connect: async (settings, options) => {
			const baseUrl = normaliseBaseUrl(settings.requireBaseUrl().value);
			const key = await settings.key();
			// The address stands in plans, in records of runs and in messages.
			if (holdsKey(baseUrl, key)) {
				throw new CliError("the address of the service holds the API key; nothing was sent", {
					exit: Exit.usage,
					hint: "Give only the address; the key is sent in a header of each request.",
				});
			}
			const redact = redactor(key);
			io.hide(key);
			const wanted = options.rate ?? settings.rate?.value ?? ADVISED_RATE;
			const rate = wanted === "unlimited" ? undefined : wanted;
			const form = options.body ?? settings.body?.value ?? "auto";
			const flavour = givenFlavour(options.flavour, settings);
			const timeout = Math.min(options.timeout ?? DEFAULT_TIMEOUT, LONGEST_TIMER);
			const proxy = proxyFor(baseUrl, env);
			const api = createApi({
				baseUrl,
				key,
				dialect: { flavour: documented, form: documented.update.forms[0] },
				timeout,
				connections: MAX_CONCURRENCY,
				ca: await settings.readCa(),
				...(proxy === undefined ? {} : { proxy: { uri: proxy } }),
				onExchange: (exchange) => {
					const { method, path, status, result, milliseconds } = exchange;
					io.debug(`${method} ${path} → ${status ?? "no answer"} ${result}, ${Math.round(milliseconds)} ms`);
					options.onExchange?.(exchange);
				},
			});
			const limiter = rate === undefined ? unlimited : createLimiter(rate, clock);
			const cooldown = new Cooldown(clock);
			const service = new Service({
				api,
				// An address that holds the key, by some mistake, is written nowhere.
				memory:
					settings.stateDir === undefined || redact(baseUrl) !== baseUrl
						? noMemory
						: fileMemory(settings.stateDir.value, baseUrl),
				clock,
				now: Date.now,
				flavour,
				form: form === "auto" ? undefined : form,
				note: (text) => io.note(text),
				redact,
			});
			await service.remember();
			const dependencies = { send: paced(limiter, cooldown), cooldown, clock, signal };
			return {
				service,
				baseUrl,
				get api() {
					return service.api;
				},
				limiter,
				cooldown,
				rate,
				timeout,
				request: (call) => requestWithRetry(call, dependencies),
				requestOnce: (call) => requestWithRetry(call, dependencies, { idempotent: false }),
				close: async () => {
					limiter.close();
					await api.close();
				},
			};
		},
		baseUrl: ({ baseUrl }) => (baseUrl === undefined ? undefined : normaliseBaseUrl(baseUrl.value)),
		preflight: (settings, timeout) => {
			const baseUrl = normaliseBaseUrl(settings.requireBaseUrl().value);
			const longest = timeout === undefined ? undefined : Math.min(timeout, LONGEST_TIMER);
			return createPreflight({ baseUrl, env, ca: () => settings.readCa(), signal, timeout: longest });
		},
	};
}

/** The flavour that the command line or the profile names. */
function givenFlavour(name: string | undefined, settings: Settings): { value: Flavour; origin: string } | undefined {
	const given = name === undefined ? settings.flavour : { value: name, origin: "--flavour" };
	if (given === undefined || given.value === "auto") return undefined;
	const value = flavourNamed(given.value);
	if (value !== undefined) return { value, origin: given.origin };
	throw new CliError(`${given.origin}: there is no flavour ${JSON.stringify(given.value)}`, {
		exit: Exit.usage,
		hint: `Take one of ${flavourNames.join(", ")}, or leave it out: the flavour is detected.`,
	});
}
