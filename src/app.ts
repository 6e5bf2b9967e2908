import { setMaxListeners } from "node:events";
import { tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { usageError } from "./errors.ts";
import { realTimers, type Io } from "./io.ts";
import { type Ping, sendPing } from "./rest/ping.ts";
import type { Preflight } from "./rest/preflight.ts";
import { normaliseBaseUrl } from "./rest/url.ts";
import { LONGEST_TIMER_MS, systemClock } from "./run/clock.ts";
import { RunMonitor } from "./run/rate/run-monitor.ts";
import { RunEndCollector } from "./run-end.ts";
import { RunStore } from "./run/recorded/run-store.ts";
import { RememberedDatasets } from "./run/service/service-memory.ts";
import { currentUserId } from "./user-id.ts";
import { stopOf } from "./run/stop/shutdown.ts";
import { type OwnProcess, processesHere } from "./run/storage/process-owner.ts";
import { temporaryFolderOf } from "./run/storage/temporary-folders.ts";
import type { Clock } from "./run/types.ts";
import { type AppTimers, openSession, type Session, type SessionOptions } from "./session.ts";
import { pingUrl } from "./settings/address.ts";
import { shardOfEnvironment } from "./settings/shard.ts";
import type { Shard } from "./shard.ts";
import { ciOf, resolveSettings, type SettingFlags, type Settings } from "./settings.ts";

export { createIo } from "./io.ts";
export type { AppTimers, Session, SessionOptions } from "./session.ts";
export { strayKeys } from "./text/stray-keys.ts";
export type { Setting, SettingFlags, Settings } from "./settings.ts";

/** The parts of the program, joined, as commands get them. They know nothing of the process around them. */
export type App = ReturnType<typeof createApp>;

type AppDependencies = {
	readonly io: Io;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly home: string | undefined;
	readonly stdin: Readable;
	readonly signal: AbortSignal;
	readonly ownProcess: OwnProcess;
	readonly clock?: Clock;
	readonly timers?: AppTimers;
};

export function createApp(dependencies: AppDependencies) {
	const { io, env, home, stdin, signal, clock = systemClock, timers = realTimers } = dependencies;
	const processes = processesHere(dependencies.ownProcess);
	// Each request that waits for its turn listens to it. Node would warn of a leak.
	setMaxListeners(0, signal);
	const monitor = new RunMonitor(clock);
	io.follow(() => monitor.current());
	// Its readers get the error, if there are any.
	stdin.on("error", () => undefined);
	const stop = (): void => {
		monitor.stopping(stopOf(signal.reason));
		// It may stay open without any more bytes.
		stdin.destroy(new Error("stopped"));
	};
	signal.addEventListener("abort", stop, { once: true });
	const warn = (text: string): void => io.note(`warning: ${text}`);
	const resolved = new Map<string, Promise<Settings>>();
	const user = { uid: currentUserId(), note: (text: string) => io.note(text) };
	const temporary = temporaryFolderOf(processes, user);
	return {
		io,
		/** for a program that a command starts */
		env,
		clock,
		timers,
		/** what the command is doing; sessions, checks and lists report to it, and `io` shows it */
		monitor,
		/** aborted with a `Stop` when the user wants to end */
		signal,
		stdin,
		/** the CI system around the program */
		ci: ciOf(env),
		/** what locks need to know of processes */
		processes,
		/** collects the facts for the command's outputs */
		runEnd: new RunEndCollector((text) => io.masked(text)),
		/** The part of the rows that the scheduler around the program names. @throws CliError exit 2 if none or several do */
		shard: (): Shard => shardOfEnvironment(env),
		/** The names of all profiles, in the order of the file; none if there is no file. @throws CliError exit 2 */
		profiles: async (): Promise<readonly string[]> =>
			(await import("./settings/profile.ts")).profileNames({ env, home }),
		/** The options of a file, by its members. @throws CliError exit 2 */
		optionsFile: async (path: string): Promise<ReadonlyMap<string, readonly string[]>> =>
			(await import("./settings/options-file.ts")).readOptionsFile(path),
		/** The datasets that the service was last seen to have; undefined without an address or a state folder. */
		rememberedDatasets: async ({ baseUrl, stateDir }: Settings): Promise<RememberedDatasets | undefined> =>
			baseUrl === undefined || stateDir === undefined
				? undefined
				: new RememberedDatasets(stateDir.value, normaliseBaseUrl(baseUrl.value)),
		/** The settings by these flags. They are read once: a key or a certificate may come from a pipe. */
		settings(flags: SettingFlags): Promise<Settings> {
			const { baseUrl, apiKeyFile, apiKeyCommand, profile, stateDir, caFile, limiter } = flags;
			const given = JSON.stringify([baseUrl, apiKeyFile, apiKeyCommand, profile, stateDir, caFile, limiter]);
			const known = resolved.get(given);
			if (known !== undefined) return known;
			const read = resolveSettings(flags, { env, home, stdin: () => text(stdin), signal, warn });
			resolved.set(given, read);
			return read;
		},
		/** A monitor of jobs at that address, such as healthchecks.io; its host is no secret. @throws CliError exit 2 if it is no address */
		jobMonitor(address: string, origin: string, ca: readonly string[]) {
			const url = pingUrl(address, origin);
			return { host: url.host, ping: (ping: Ping) => sendPing({ url, ca, env }, ping) };
		},
		/** The folder of recorded runs. @throws CliError exit 2 if there is none */
		runs({ stateDir }: Settings): RunStore {
			if (stateDir !== undefined) return new RunStore(stateDir.value, user, processes);
			throw usageError(
				"runs can't be recorded, because there is no home folder; nothing was sent",
				"Name one with --state-dir DIR or RAGTAG_STATE_DIR.",
			);
		},
		/**
		 * The folder for a command's temporary files: below the state folder, open to its owner alone. `close` removes it.
		 *
		 * @throws CliError exit 2 or 7 if a folder that was asked for can't be made, or belongs to another user
		 */
		temporaryFolder: async ({ stateDir }: Settings): Promise<string> =>
			stateDir === undefined ? tmpdir() : temporary.in(stateDir.value, stateDir.origin),
		connect: (settings: Settings, options: SessionOptions): Promise<Session> =>
			openSession(settings, options, { io, env, clock, timers, signal, monitor }),
		/** The address in the form of recorded runs; undefined if none is set. @throws CliError exit 2 for a wrong address */
		baseUrl: ({ baseUrl }: Settings): string | undefined =>
			baseUrl === undefined ? undefined : normaliseBaseUrl(baseUrl.value),
		/**
		 * Checks of the way to the service, before anything is sent. `timeout` is in milliseconds, for each step.
		 *
		 * @throws CliError exit 2 for a wrong address
		 */
		async preflight(settings: Settings, timeout: number | undefined): Promise<Preflight> {
			const baseUrl = normaliseBaseUrl(settings.requireBaseUrl().value);
			const longest = timeout === undefined ? undefined : Math.min(timeout, LONGEST_TIMER_MS);
			// Loaded late: it brings the code of TLS and of name look-ups, and few commands check the way to the service.
			const { createPreflight } = await import("./rest/preflight.ts");
			return createPreflight({ baseUrl, env, ca: () => settings.readCa(), signal, timeout: longest });
		},
		/** Removes the temporary files of commands. */
		close: (): Promise<void> => temporary.close(),
	};
}
