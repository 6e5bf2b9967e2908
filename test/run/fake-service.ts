import { RestError } from "../../src/rest/errors.ts";
import type { Api } from "../../src/rest/types.ts";
import type { RememberedService, ServiceOptions } from "../../src/run/service/service-memory.ts";
import { tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import { DocumentSource } from "../../src/run/documents/document-source.ts";
import { Searches } from "../../src/run/documents/searches.ts";
import type { OnExisting } from "../../src/run/operations/namesakes.ts";
import type { Operation, SentLog } from "../../src/run/operations/operation.ts";
import { type RemovalOptions, removeDocuments } from "../../src/run/operations/remove.ts";
import type { UploadItem } from "../../src/run/operations/store-file.ts";
import { uploadFile } from "../../src/run/operations/upload.ts";
import type { Clock, Request, Work } from "../../src/run/types.ts";
import { type Write, type WriteMemory, writeMetadata } from "../../src/run/service/write.ts";
import { Service } from "../../src/run/service/service.ts";

type DocumentSourceOptions = ConstructorParameters<typeof DocumentSource>[0];

/** For operations that are not recorded. */
export const unrecorded: SentLog = {
	earlier: () => undefined,
	sending: () => Promise.resolve(),
	stored: () => Promise.resolve(),
};

/** A memory that holds one entry. */
export function memoryOf(
	first?: RememberedService,
): NonNullable<ServiceOptions["memory"]> & { entry: RememberedService | undefined } {
	return {
		entry: first,
		async load() {
			return this.entry;
		},
		async save(knowledge) {
			this.entry = knowledge;
		},
	};
}

/** A service at which this run has seen an update, a removal of another dataset and an upload: it looks at none any more. */
export function provenService(api: Api, more: Partial<ServiceOptions> = {}): Service {
	const { flavour, form } = api.dialect;
	const service = serviceOf(api, { flavour: { value: flavour, origin: "the test" }, form, ...more });
	service.canary.confirm("document_id");
	service.canary.isUploadConfirmed = true;
	return service;
}

/** Writes as an attempt of a row does: again where an answer shows that the service speaks another dialect. */
export async function writeInDialect(
	service: Service,
	request: Request,
	write: Write,
	memory: WriteMemory = {},
): Promise<void> {
	const api = await service.known(request);
	try {
		await writeMetadata(service, request, write, memory);
	} catch (error) {
		const isOther = error instanceof RestError && error.kind === "contradiction";
		if (!isOther || !(await service.redetect(api, request, error))) throw error;
		await writeInDialect(service, request, write, memory);
	}
}

/** Time that takes none: what is waited for is there. */
const instant: Clock = { now: () => 0, sleep: () => Promise.resolve(), random: () => 0.5 };

export function serviceOf(api: Api, more: Partial<ServiceOptions> = {}): Service {
	return new Service({ api, memory: memoryOf(), clock: instant, now: () => 0, note: () => undefined, ...more });
}

/** The service of a `DocumentSource`. Lists of a bare API are not doubted. */
export function believing(): DocumentSourceOptions["service"] {
	const quiet = (): void => undefined;
	return { clock: instant, searches: new Searches({ clock: instant, note: quiet, noteOnce: quiet }) };
}

/** The documents of so many rows of the dataset `set`. Each is asked for where nothing is said of the rows. */
export function sourceOf(service: DocumentSourceOptions["service"] = believing(), rows = 0): DocumentSource {
	const source = new DocumentSource({ rows: new Map([["set", rows]]), folder: async () => tmpdir(), service });
	onTestFinished(() => source.close());
	return source;
}

/** Uploads as the command does. Each name and each document is asked for, unless another source is given. */
export function uploading<Item extends UploadItem>(
	service: Service,
	onExisting: OnExisting,
	options?: Partial<Parameters<typeof uploadFile>[3]>,
): Operation<Item> {
	return uploadFile<Item>(service, onExisting, sourceOf(), {
		log: unrecorded,
		timeout: 0,
		parsing: undefined,
		...options,
	});
}

/** Removes as the command does. Each document is asked for. */
export function removing(service: Service, options: Partial<RemovalOptions<Work>> = {}): Operation<Work> {
	return removeDocuments<Work>(service, { log: unrecorded, ...options });
}
