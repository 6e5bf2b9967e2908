import type { App, Session } from "../../app.ts";
import { errorCode, reason } from "../../errors.ts";
import { adjustedText } from "../../report/pace.ts";
import type { Adjustment } from "../../run/rate/rate-control.ts";
import {
	ADJUST_FILE,
	ADJUSTED_FILE,
	PROCESS_FILE,
	readWantedChange,
	takenChangeText,
} from "../../run/recorded/adjust-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { removeFile } from "../../run/storage/quick-files.ts";
import { writeWhole } from "../../write-whole.ts";
import { ownerText, thisProcessAsOwner } from "../../run/storage/process-owner.ts";

/** How often the file of `runs adjust` is read, in milliseconds. */
const LOOK_MS = 1000;

type Followed = { readonly runs: RunStore; readonly name: string; readonly session: Session; readonly app: App };

/**
 * Lets `runs adjust` change a run that is going on, and notes each change, until the returned function is called.
 * A file that can't be read or written is a note: it never ends the run.
 */
export async function followAdjustments(followed: Followed): Promise<() => Promise<void>> {
	const { runs, name, session, app } = followed;
	const clear = (...files: readonly string[]): void => {
		for (const file of files) removeFile(runs.path(name, file));
	};
	session.rates.onChange = (change) => app.io.note(noteOf(change, name));
	let seen = "";
	let work = Promise.resolve();
	let isBusy = false;
	const look = async (): Promise<void> => {
		try {
			const text = await runs.readFile(name, ADJUST_FILE);
			if (text === undefined || text === seen) return;
			seen = text;
			await take(text, followed);
		} catch (error) {
			const fault = reason(error);
			if (fault !== seen) app.io.note(`${runs.path(name, ADJUST_FILE)}: ${fault}; the run goes on unchanged.`);
			seen = fault;
		}
	};
	try {
		clear(ADJUST_FILE, ADJUSTED_FILE, PROCESS_FILE);
		const owner = ownerText(thisProcessAsOwner(app.processes));
		await writeWhole(runs.path(name, PROCESS_FILE), owner, { isSynced: false });
	} catch (error) {
		app.io.note(`runs adjust can't change this run: ${errorCode(error) ?? reason(error)}`);
	}
	const cancel = app.timers.every(LOOK_MS, () => {
		if (isBusy) return;
		isBusy = true;
		work = look().finally(() => (isBusy = false));
	});
	return async () => {
		cancel();
		session.rates.onChange = () => undefined;
		await work;
		// The answer stays: a run that ended right after a change would take it away before runs adjust has read it.
		try {
			clear(ADJUST_FILE, PROCESS_FILE);
		} catch {
			// The run has ended, whatever becomes of these.
		}
	};
}

/** Makes the change that a file asks for, and writes the answer. */
async function take(text: string, { runs, name, session, app }: Followed): Promise<void> {
	const wanted = readWantedChange(text);
	if (wanted === undefined) {
		app.io.note(`${runs.path(name, ADJUST_FILE)} was not written by runs adjust; the run goes on unchanged.`);
		return;
	}
	const { rates } = session;
	const before = rates.setting;
	if (wanted.rate !== undefined) rates.change(wanted.rate);
	if (wanted.paused !== undefined) rates.pause(wanted.paused);
	const taken = { id: wanted.id, before, rate: rates.setting, paused: rates.isPaused };
	await writeWhole(runs.path(name, ADJUSTED_FILE), takenChangeText(taken), { isSynced: false });
}

function noteOf(change: Adjustment, name: string): string {
	const text = adjustedText(change);
	const how = change.kind === "paused" ? ` Continue it with: ragtag runs adjust ${name} --continue` : "";
	return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.${how}`;
}
