import type { App, Settings } from "../../app.ts";
import type { Check } from "../../report/checks.ts";
import { probeStorage } from "../../run/storage/folders.ts";
import { show } from "../../text/show.ts";
import { attempt, failed } from "./attempt.ts";

export const STORAGE = "storage";

/** Bytes below which a night's records may fill the disk: a hundred thousand rows with what they had before. */
const LITTLE = 500_000_000;

/** Whether runs can be recorded where the settings say. A file is written there, and removed. */
export async function storageCheck(settings: Settings, app: App): Promise<Check> {
	const next = "ragtag doctor --state-dir DIR";
	const runs = await attempt(() => app.runs(settings));
	if ("error" in runs) return failed(STORAGE, runs.error, next);
	const { folder } = runs.value;
	const free = await attempt(async () => {
		await runs.value.secure();
		return probeStorage(folder);
	});
	if ("error" in free) return failed(STORAGE, free.error, next);
	const where = `runs are recorded in ${show(folder)}`;
	if (free.value === undefined) return { name: STORAGE, status: "ok", text: where };
	const text = `${where}; ${sizeText(free.value)} are free there`;
	if (free.value >= LITTLE) return { name: STORAGE, status: "ok", text };
	const hint =
		"A run whose records find no room stops. Make room, remove old records with ragtag runs prune, or name another folder with --state-dir DIR.";
	return { name: STORAGE, status: "warning", text, hint };
}

/** `12.3 GB`; three digits tell enough. */
function sizeText(bytes: number): string {
	const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
	let size = bytes;
	let unit = 0;
	for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000;
	return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}
