import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { Service } from "./service.ts";

/**
 * Refuses what the service would: some do so only behind an upload, whose file is stored by then.
 *
 * @throws RestError where a value is of a kind that the flavour does not take
 */
export function refuseValues(service: Service, metadata: Metadata): void {
	const { flavour } = service.api.dialect;
	for (const [key, value] of metadata) {
		if (flavour.takes(value)) continue;
		const kind = value === null ? "null" : Array.isArray(value) ? "a list of more than plain values" : "an object";
		const text = `the value of ${JSON.stringify(service.show(key))} is ${kind}; ${flavour.servers} takes only text, numbers, booleans and lists of them. Nothing was sent`;
		throw new RestError(text, { kind: "rejected", code: "VALUE_NOT_TAKEN" });
	}
}
