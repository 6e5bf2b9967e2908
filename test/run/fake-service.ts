import type { Api } from "../../src/rest/types.ts";
import type { RememberedService, ServiceMemory } from "../../src/run/service/service-memory.ts";
import type { DocumentSourceOptions } from "../../src/run/documents/document-source.ts";
import { Searches } from "../../src/run/documents/searches.ts";
import type { Clock, Request } from "../../src/run/types.ts";
import { type Write, type WriteMemory, writeMetadata } from "../../src/run/service/write.ts";
import type { ServiceOptions } from "../../src/run/service/service-options.ts";
import { Service } from "../../src/run/service/service.ts";

/** A memory that holds one entry. */
export function memoryOf(first?: RememberedService): ServiceMemory & { entry: RememberedService | undefined } {
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
	service.canary.confirmUpload();
	return service;
}

/** Writes as an operation does: again where an answer shows that the service speaks another dialect. */
export function writeInDialect(
	service: Service,
	request: Request,
	write: Write,
	memory: WriteMemory = {},
): Promise<void> {
	return service.inDialect(request, () => writeMetadata(service, request, write, memory));
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
