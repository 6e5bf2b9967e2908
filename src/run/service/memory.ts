import { createHash, randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../storage/folders.ts";
import { type KnowledgeMemory, knowledgeText, readKnowledge } from "./knowledge.ts";

/**
 * Remembers below a folder, in one small file for each address, so that two runs never write over each other's.
 *
 * What can't be read or written is forgotten: the next run asks the service again, which costs three requests.
 */
export function fileMemory(stateDir: string, baseUrl: string): KnowledgeMemory {
	const folder = join(stateDir, "services");
	const path = join(folder, `${createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)}.json`);
	return {
		load: async () => {
			try {
				return readKnowledge(await readFile(path, "utf8"), baseUrl);
			} catch {
				return undefined;
			}
		},
		save: async (knowledge) => {
			const temporary = `${path}.${randomBytes(6).toString("hex")}`;
			try {
				// Node's own recursive way tries for ever where a folder that is there refuses with "no such file", as /proc does.
				await makeFolder(folder);
				await writeFile(temporary, knowledgeText(baseUrl, knowledge), { mode: 0o600, flag: "wx" });
				await rename(temporary, path);
			} catch {
				await rm(temporary, { force: true }).catch(() => undefined);
			}
		},
	};
}

/** For a machine without a place to keep anything. */
export const noMemory: KnowledgeMemory = { load: async () => undefined, save: async () => undefined };
