import type { Settings } from "../../app.ts";
import { BODY_FORMS } from "../../body-forms.ts";
import type { Check } from "../../report/checks.ts";
import type { Recognition } from "../../run/service/service.ts";

/** Which kind of server it is, how that is known, and what speaks against the settings or what was remembered. */
export function flavourCheck(
	found: Recognition,
	before: Recognition | undefined,
	{ flavour: wanted, body }: Pick<Settings, "flavour" | "body">,
): Check {
	const { flavour, form, how, proven } = found;
	const proof = proven !== undefined ? "proven by a write that was read back" : "not proven by a write yet";
	const words = BODY_FORMS.find(({ name }) => name === form)?.words ?? form;
	const text = `${flavour.servers} (${flavour.name}): ${how}. Updates go out as ${words}, ${proof}`;
	const doubts: string[] = [];
	const hints: string[] = [];
	if (wanted !== undefined && wanted.value !== "auto" && wanted.value !== flavour.name) {
		doubts.push(`${wanted.origin} says ${wanted.value}`);
		hints.push(`Take flavour out of ${wanted.origin}, and it is found out.`);
	}
	if (body !== undefined && body.value !== "auto" && !flavour.update.forms.includes(body.value)) {
		doubts.push(`${body.origin} asks for the body ${body.value}, which this kind does not take`);
		hints.push(`Take body out of ${body.origin}.`);
	}
	if (before?.origin === "remembered" && before.flavour.name !== flavour.name) {
		const age = ageText(Math.max(0, found.foundAt - before.foundAt));
		doubts.push(`until now it was taken for ${before.flavour.servers} (${before.flavour.name}), found ${age} ago`);
		hints.push("Has the service been changed? Runs go by what was found now.");
	}
	if (doubts.length === 0) return { name: "flavour", status: "ok", text };
	return { name: "flavour", status: "warning", text: `${text}. But ${doubts.join("; ")}`, hint: hints.join(" ") };
}

/** `3 days`, `1 hour`, `0 minutes`: the largest unit that fits. */
export function ageText(milliseconds: number): string {
	const minutes = Math.floor(milliseconds / 60_000);
	const [count, unit] =
		minutes >= 2880
			? [Math.floor(minutes / 1440), "day"]
			: minutes >= 120
				? [Math.floor(minutes / 60), "hour"]
				: [minutes, "minute"];
	return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
