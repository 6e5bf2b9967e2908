import type { Api } from "../../src/rest/types.ts";
import type { Knowledge, KnowledgeMemory } from "../../src/run/service/knowledge.ts";
import { Service, type ServiceOptions } from "../../src/run/service/service.ts";
import { FakeClock } from "./fake-clock.ts";

/** A memory that holds one entry. */
export function memoryOf(first?: Knowledge): KnowledgeMemory & { entry: Knowledge | undefined } {
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

/** What an earlier run learned of a service that speaks as `api` does. */
export function knowledgeOf({ dialect: { flavour, form } }: Api, proven: boolean): Knowledge {
	return { flavour, form, proven, how: "it was said so", foundAt: 0 };
}

/** A service at which updates were seen to arrive in an earlier run: it asks nothing and reads nothing back. */
export function provenService(api: Api, more: Partial<ServiceOptions> = {}): Service {
	return serviceOf(api, { memory: memoryOf(knowledgeOf(api, true)), ...more });
}

export function serviceOf(api: Api, more: Partial<ServiceOptions> = {}): Service {
	const clock = new FakeClock();
	return new Service({ api, memory: memoryOf(), clock, now: () => 0, note: () => undefined, ...more });
}
