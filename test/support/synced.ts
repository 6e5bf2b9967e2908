import { mkdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { held } from "./content.ts";
import { program } from "./program.ts";
import { envOf } from "./ragtag.ts";
import { type Recorded, recorded, type RecordedOptions } from "./recorded.ts";
import { folder } from "./service.ts";
import { summaryOf } from "./values.ts";

export type Synced = Recorded & {
	/** the folder */
	readonly root: string;
	/** with which a built program finds the service and the records */
	readonly env: Readonly<Record<string, string>>;
	write(path: string, text: string): Promise<void>;
	move(from: string, to: string): Promise<void>;
	remove(path: string): Promise<void>;
	/** a file of the same bytes and another time */
	touch(path: string): Promise<void>;
	/** runs `docs sync`; `summary` is undefined where it printed none */
	sync(...flags: string[]): Promise<{ exit: number; stdout: string; stderr: string; summary: unknown }>;
	/** every document: its name, metadata and content */
	held(): ReturnType<typeof held>;
	/** their names and contents */
	contents(): Promise<[string, string][]>;
	/** their ids by their names */
	ids(): Promise<Map<string, string>>;
};

export const PAPERS = { "hr/a.txt": "a of hr", "hr/b.txt": "b of hr", "it/a.txt": "a of it", "top.md": "top" } as const;

type SyncedOptions = {
	readonly documents?: number | undefined;
	/** whether the built program runs, each time in a process of its own */
	readonly isBuilt?: boolean;
};

/** A folder with files, a service with an empty dataset, and the command that syncs them. */
export async function synced(
	files: Readonly<Record<string, string>> = PAPERS,
	options: RecordedOptions & SyncedOptions = {},
): Promise<Synced> {
	const { documents = 0, isBuilt = false, ...sandbox } = options;
	const here = await recorded(documents, { flavour: "ragflow-0.27", ...sandbox });
	const env = { ...envOf(here.service), HOME: here.home, XDG_STATE_HOME: dirname(here.state) };
	const world = isBuilt ? { ...here, run: (argv: readonly string[]) => program(argv, env) } : here;
	const root = await folder();
	const { service } = world;
	const write = async (path: string, text: string): Promise<void> => {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), text);
	};
	for (const [path, text] of Object.entries(files)) await write(path, text);
	return {
		...world,
		env,
		root,
		write,
		move: async (from, to) => {
			await mkdir(dirname(join(root, to)), { recursive: true });
			await rename(join(root, from), join(root, to));
		},
		remove: (path) => rm(join(root, path), { recursive: true }),
		touch: async (path) => {
			const { atime, mtimeMs } = await stat(join(root, path));
			await utimes(join(root, path), atime, mtimeMs / 1000 + 100);
		},
		sync: async (...flags) => {
			const argv = ["docs", "sync", root, "-d", service.dataset, "--rate", "5000", "--json", ...flags];
			const ended = await world.run(argv);
			return { ...ended, summary: ended.stdout.includes('"type":"summary"') ? summaryOf(ended.stdout) : undefined };
		},
		held: () => held(service),
		contents: async () => (await held(service)).map(({ name, content }): [string, string] => [name, content]),
		ids: async () => new Map((await service.documents()).map(({ id, name }) => [name, id])),
	};
}
