import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ActiveFlavour } from "./active-flavour.ts";
import type { Service } from "./answer.ts";
import { type Control, openControl } from "./control.ts";
import { FaultInjector } from "./faults/fault-injector.ts";
import type { Flavour } from "./flavours/index.ts";
import { checkOptions, type SandboxOptions, settingsOf } from "./options.ts";
import { type RunningServer, startServer } from "./server.ts";
import { loadDatabase } from "./sqlite.ts";
import { openStore, type Store } from "./store/index.ts";

export type { SandboxOptions } from "./options.ts";
export { NoSqlite } from "./sqlite.ts";

export type Sandbox = {
	/** `http://127.0.0.1:PORT`, without `/api/v1` */
	url: string;
	key: string;
	/** the dataset that `documents` filled, at this start or at an earlier one with the same file */
	datasetId: string | undefined;
	port: number;
	/** the plan of faults and the ledger; only with the options `faults` or `control` */
	control: Control | undefined;
	/** answers in another flavour from now on, over the same data */
	become(flavour: Flavour): void;
	/** ends connections, and leaves all data in one file */
	close(): Promise<void>;
};

/** Starts the API, in one of its flavours, on the loopback address. Throws an error for the user where it cannot. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
	checkOptions(options);
	const injector = injectorOf(options);
	const database = await loadDatabase();
	const key = options.key ?? `sandbox-${randomBytes(16).toString("hex")}`;
	const keys = { owner: key, member: options.memberKey };
	const flavour = new ActiveFlavour(options.flavour ?? "documented", keys, options.upgrade);
	// `mkdtemp` makes the folder accessible to its owner alone (0700).
	const temporary = options.data === undefined ? await mkdtemp(join(tmpdir(), "ragtag-sandbox-")) : undefined;
	const path = temporary === undefined ? resolve(options.data ?? "") : join(temporary, "sandbox.db");

	let store: Store | undefined;
	let server: RunningServer | undefined;
	let control: Control | undefined;
	const close = async (): Promise<void> => {
		try {
			await server?.close();
			await control?.close();
			store?.close();
		} finally {
			if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
		}
	};
	try {
		store = openStore(database, path, options.documents ?? 0);
		const service: Service = {
			store,
			settings: settingsOf(options),
			onUpdate: () => flavour.countUpdate(),
			databaseDown: false,
			searchesFail: false,
			updatesFail: false,
		};
		server = await startServer({ port: options.port, backend: { service, flavour }, log: options.log, injector });
		control = injector === undefined ? undefined : await openControl(injector);
	} catch (error) {
		await close();
		throw error;
	}
	const { port } = server;
	let closed: Promise<void> | undefined;
	return {
		url: `http://127.0.0.1:${port}`,
		key,
		datasetId: store.filledDataset,
		port,
		control,
		become: (other) => flavour.change(other),
		close: () => (closed ??= close()),
	};
}

/** Checks the plan before anything is opened, so that no sandbox starts with a plan that is not valid. */
function injectorOf({ faults, control, log }: SandboxOptions): FaultInjector | undefined {
	if (faults === undefined && control !== true) return undefined;
	const injector = new FaultInjector(log);
	if (faults !== undefined) injector.plan.set(faults);
	return injector;
}
