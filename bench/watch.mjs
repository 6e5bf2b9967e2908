// A run while it goes on: what the server has taken, what the client has used, how long its records are.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { usageOf } from "./usage-of.mjs";

/** Samples a run until it ends. @param every milliseconds between two samples */
export async function watched({ pid, ended }, server, folder, every = 500) {
	const samples = [];
	let isOver = false;
	const end = ended.finally(() => (isOver = true));
	while (!isOver) {
		samples.push(await sample(pid, server, folder));
		await Promise.race([end, new Promise((resolve) => setTimeout(resolve, every))]);
	}
	return { ...(await end), samples };
}

/** @param folder the state folder */
export async function sample(pid, server, folder) {
	const [{ updates }, usage, bytes] = await Promise.all([server.requests(), usageOf(pid), bytesOf(folder)]);
	return { updates, bytes, ...usage };
}

/** Bytes of the records of all runs in a state folder. */
async function bytesOf(folder) {
	let bytes = 0;
	for (const name of await readdir(join(folder, "runs"), { recursive: true }).catch(() => [])) {
		const file = await stat(join(folder, "runs", name)).catch(() => undefined);
		if (file?.isFile() === true) bytes += file.size;
	}
	return bytes;
}

/**
 * The growth of a figure for each update, by the samples from one count of updates to below another. After the last update of
 * a run its records are compressed, which is no cost of a row.
 */
export function growthPerRow(samples, member, { from, to }) {
	const within = samples.filter(({ updates, [member]: value }) => updates >= from && updates < to && value >= 0);
	const [first, last] = [within[0], within.at(-1)];
	if (first === undefined || last.updates <= first.updates) return undefined;
	return (last[member] - first[member]) / (last.updates - first.updates);
}
