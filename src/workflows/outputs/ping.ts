import type { App, SettingFlags } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import type { RunEnd } from "../../run-end.ts";

/** 5 s for a monitor to answer. After a signal the program has two seconds for all that it still does. */
const TIMEOUT_MS = 5_000;
const STOPPED_TIMEOUT_MS = 1_000;

/** Flags that a ping depends on. */
type PingFlags = SettingFlags & { readonly ping?: string | undefined; readonly dryRun?: boolean | undefined };

/**
 * Tells the monitor of the job that it begins, where one is named. The command does not wait for the answer. A dry run is the
 * job only where its command line names the monitor.
 *
 * @throws CliError exit 2 if the address is no address
 */
export async function startPing(app: App, flags: PingFlags): Promise<void> {
	const { ping, dryRun } = flags;
	// An error of the settings is reported by the command, which reads them again.
	const settings = await app.settings(flags).catch(() => undefined);
	const url = ping ?? (dryRun === true ? undefined : settings?.ping?.value);
	if (url === undefined) return;
	const ca = await settings?.readCa().catch(() => []);
	const monitor = app.jobMonitor(url, ping === undefined ? (settings?.ping?.origin ?? "") : "--ping", ca ?? []);
	const started = tell(app, monitor.host, monitor.ping({ signal: "start", timeout: TIMEOUT_MS }));
	app.runEnd.onEnd = async (exit) => {
		await started;
		// The run that is going on tells how the job ends.
		if (exit === Exit.locked) return;
		const end = app.runEnd.endOf(exit);
		const { command, args, text } = end;
		const timeout = app.signal.aborted ? STOPPED_TIMEOUT_MS : TIMEOUT_MS;
		const body = `ragtag ${[command, ...args].join(" ")}: exit code ${exit}\n${text}\n`;
		await tell(app, monitor.host, monitor.ping({ signal: String(signalOf(end)), text: body, timeout }));
	};
}

/** The exit code as the monitor gets it. A job that only ran out of the time that its user gave it has not failed. */
function signalOf({ exit, result, summary }: RunEnd): ExitCode {
	if (exit !== Exit.limit || result?.stop?.isOutOfTime !== true) return exit;
	return (summary?.failed ?? 0) > 0 ? Exit.failedRows : Exit.ok;
}

/** A ping that fails is a note: it says nothing about the run. */
async function tell({ io }: App, host: string, ping: Promise<string | undefined>): Promise<void> {
	const failure = await ping;
	io.debug(`ping ${host} → ${failure ?? "ok"}`);
	if (failure !== undefined) io.note(`The ping failed, and the run is not affected: ${failure}`);
}
