import type { JsonValue, Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { Service } from "./service.ts";

/**
 * Refuses the values that the service would refuse: some refuse them only after an upload, when the file is stored.
 *
 * @throws RestError where a value is of a kind that the flavour does not take
 */
export function refuseValues(service: Service, metadata: Metadata): void {
	const { flavour } = service.api.dialect;
	for (const [key, value] of metadata) {
		if (flavour.acceptsValue(value)) continue;
		const text = `the value of ${JSON.stringify(service.show(key))} is ${kindOf(value)}; ${flavour.servers} takes only ${flavour.acceptedValues ?? "other values"}. Nothing was sent`;
		throw new RestError(text, { kind: "rejected", code: "VALUE_NOT_TAKEN" });
	}
}

function kindOf(value: JsonValue): string {
	if (typeof value === "boolean") return "a boolean";
	return value === null ? "null" : Array.isArray(value) ? "a list of other values" : "an object";
}
