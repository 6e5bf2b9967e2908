import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { withoutKeyInAnyForm } from "../../support/encodings.ts";
import { portsOf, tellsPorts } from "../../support/ports.ts";
import type { Running } from "../../support/program.ts";
import { KEY } from "../../support/service.ts";
import { bounded } from "./trial.ts";

/** Fails where the key is in any file below these folders, in any form. @returns how many files were read */
export async function withoutKeyBelow(...folders: readonly string[]): Promise<number> {
	let files = 0;
	for (const folder of folders) {
		for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
			if (!entry.isFile()) continue;
			const path = join(entry.parentPath, entry.name);
			withoutKeyInAnyForm(await readFile(path, "latin1"), KEY, path);
			files += 1;
		}
	}
	return files;
}

/** Milliseconds between looks for ports that are open. */
const LOOK_MS = 50;

/** How a program ended. It opened no port meanwhile, and has printed the key in no form. */
export async function endedWithoutKey(running: Running): Promise<{ readonly stdout: string; readonly stderr: string }> {
	const ports = new Set<number>();
	const look = setInterval(() => {
		const { pid, exitCode } = running.child;
		if (!tellsPorts || pid === undefined || exitCode !== null) return;
		try {
			for (const port of portsOf(pid)) ports.add(port);
		} catch {
			// It has ended since.
		}
	}, LOOK_MS);
	try {
		const ended = await bounded(running);
		if (ports.size > 0) throw new Error(`the program listened on ${[...ports].join(", ")}`);
		withoutKeyInAnyForm(ended.stdout, KEY, "standard output");
		withoutKeyInAnyForm(ended.stderr, KEY, "standard error");
		return ended;
	} finally {
		clearInterval(look);
	}
}
