/** Every way in which a write can be lost, answered late, or applied and not confirmed. */
export function faultsOf(seed, ...methods) {
	const faults = methods.flatMap((method) => [
		{ fault: "reset", when: "after", on: { method, probability: 0.02 } },
		{ fault: "reset", when: "before", on: { method, probability: 0.02 } },
		{ fault: "status", status: 503, when: "before", on: { method, probability: 0.02 } },
		{ fault: "status", status: 503, when: "after", on: { method, probability: 0.02 } },
		{ fault: "late", milliseconds: 5, jitter: 40, on: { method, probability: 0.05 } },
		{ fault: "delay", when: "after", milliseconds: 5, jitter: 40, on: { method, probability: 0.1 } },
	]);
	return { seed, faults };
}
