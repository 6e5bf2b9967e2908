import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Control, openControl } from "./control.ts";
import { FaultInjector } from "./faults/fault-injector.ts";
import type { Flavour } from "./flavours/index.ts";
import { loadBusboy, loadDatabase } from "./optional.ts";
import { checkOptions, type SandboxOptions, settingsOf } from "./options.ts";
import { type Listening, listen } from "./server.ts";
import { openStore, type Store } from "./store/index.ts";
import { ActiveFlavour } from "./active-flavour.ts";

export type { SandboxOptions } from "./options.ts";

export type Sandbox = {
	/** `http://127.0.0.1:PORT`, without `/api/v1` */
	url: string;
	key: string;
	/** the dataset that `documents` filled, at this start or an earlier one of the same file */
	datasetId: string | undefined;
	port: number;
	/** the plan of faults and the ledger; only where `faults` or `control` asked for it */
	control: Control | undefined;
	/** speaks another flavour from now on, over the same data */
	become(flavour: Flavour): void;
	/** ends connections, and leaves the data whole in one file */
	close(): Promise<void>;
};

/** Starts the API, in one of its flavours, on the loopback address. Throws, in one sentence, where it cannot. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
	checkOptions(options);
	const trouble = troubleOf(options);
	const [database, busboy] = [await loadDatabase(), await loadBusboy()];
	const key = options.key ?? `sandbox-${randomBytes(16).toString("hex")}`;
	const voice = new ActiveFlavour(
		options.flavour ?? "documented",
		{ owner: key, member: options.memberKey },
		options.upgrade,
	);
	// Its folder is open to its owner alone (0700).
	const temporary = options.data === undefined ? await mkdtemp(join(tmpdir(), "ragtag-sandbox-")) : undefined;
	const path = temporary === undefined ? resolve(options.data ?? "") : join(temporary, "sandbox.db");

	let store: Store | undefined;
	let server: Listening | undefined;
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
		const service = {
			store,
			settings: settingsOf(options),
			busboy,
			updated: () => voice.updated(),
			databaseAway: false,
		};
		server = await listen({ port: options.port, voice, service, log: options.log, trouble });
		control = trouble === undefined ? undefined : await openControl(trouble);
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
		become: (flavour) => voice.become(flavour),
		close: () => (closed ??= close()),
	};
}

function troubleOf({ faults, control, log }: SandboxOptions): FaultInjector | undefined {
	if (faults === undefined && control !== true) return undefined;
	const trouble = new FaultInjector(log);
	// Before anything is opened: a plan that can't be followed serves nothing.
	if (faults !== undefined) trouble.force.set(faults);
	return trouble;
}
