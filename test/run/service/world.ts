import type { JsonValue } from "../../../src/json/values.ts";
import { documented } from "../../../src/rest/flavours.ts";
import type { RememberedService } from "../../../src/run/service/service-memory.ts";
import type { Service } from "../../../src/run/service/service.ts";
import type { Write, WriteMemory } from "../../../src/run/service/write.ts";
import { direct } from "../fake-api.ts";
import { FakeClock } from "../fake-clock.ts";
import type { FakeServer } from "../fake-server.ts";
import { serviceOf, writeInDialect } from "../fake-service.ts";

/** A row that writes its own id, or these values. */
export const row = (id: string, metadata: { [key: string]: JsonValue } = { a: id }): Write => ({
	datasetId: "set",
	documentId: id,
	metadata: new Map(Object.entries(metadata)),
});

export type World = {
	readonly service: Service;
	readonly notes: readonly string[];
	readonly clock: FakeClock;
	write(write: Write, memory?: WriteMemory): Promise<void>;
};

/** A service at an address of which nothing is known, and what it tells its user. */
export function worldOf(server: FakeServer, more: Parameters<typeof serviceOf>[1] = {}): World {
	const notes: string[] = [];
	const clock = new FakeClock();
	server.clock = clock;
	const api = server.api({ flavour: documented, form: "multipart" });
	const service = serviceOf(api, { clock, note: (text) => notes.push(text), ...more });
	return {
		service,
		notes,
		clock,
		write: (write, memory = {}) => clock.until(writeInDialect(service, direct, write, memory)),
	};
}

/** What an earlier run learned of the documented API. */
export const known = (more: Partial<RememberedService> = {}): RememberedService => ({
	flavour: documented,
	form: "multipart",
	proven: "document_id",
	how: "it was seen",
	foundAt: 0,
	...more,
});

export const updates = ({ calls }: FakeServer): string[] => calls.filter((call) => call.startsWith("P"));
