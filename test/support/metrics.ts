import parsePrometheus from "parse-prometheus-text-format";
import { at, items } from "./values.ts";

/** Every sample of a text, read by a parser of Prometheus' format: `NAME{LABEL="VALUE"}` to its value. */
export function samplesOf(text: string): Record<string, string> {
	const samples: Record<string, string> = {};
	for (const family of items(parsePrometheus(text))) {
		if (at(family, "type") !== "GAUGE" || at(family, "help") === "") throw new Error("a family without a type or help");
		for (const sample of items(at(family, "metrics"))) {
			const labels = Object.entries(at(sample, "labels") ?? {}).map(
				([name, value]) => `${name}=${JSON.stringify(value)}`,
			);
			samples[`${String(at(family, "name"))}{${labels.join(",")}}`] = String(at(sample, "value"));
		}
	}
	return samples;
}
