import { BODY_FORMS } from "../../body-forms.ts";
import type { Session } from "../../app.ts";
import { CliError, Exit } from "../../errors.ts";
import { ADVISED_RATE, highestRate, MAX_CONCURRENCY, safeRate } from "../../rates.ts";
import type { Api, Exchange } from "../../rest/types.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import { show } from "../../text/show.ts";
import { documentsText } from "../../text/words.ts";
import { datasetId } from "../../workflows/dataset.ts";
import { attempt, type Doctor, failed, type Found, ok, skipped, type Step, warning } from "./checks.ts";
import { DNS, given, TLS, unanswered } from "./local.ts";

const FIRST_ENTRY = { page: 1, pageSize: 1 };

/** Seconds. A larger difference between the clocks is a warning. */
const MAX_SKEW = 60;

/** Requests that measure the latency: enough for a median that one slow answer does not change. */
const LATENCY_REQUESTS = 5;

/** A check that asks the service. */
function asking(name: string, check: (session: Session, doctor: Doctor) => Promise<Found | undefined>): Step {
	return { name, check: (doctor) => doctor.session && check(doctor.session, doctor) };
}

/** Opens the session. It fails where the settings contradict each other. */
const CONNECTION: Step = {
	name: "flavour",
	check: async (doctor) => {
		const onExchange = ({ status, date }: Exchange): void => {
			if (status !== undefined) doctor.firstAnswer ??= { date: date(), at: Date.now() };
		};
		doctor.session = await doctor.app.connect(doctor.settings, { ...doctor.flags, onExchange });
		return undefined;
	},
};

/** Whether the service answers like the API. */
const ANSWERS: readonly Step[] = [
	asking("service", async (session, doctor) => {
		const { host } = new URL(session.baseUrl);
		const list = await attempt(() => session.request(() => session.api.listDatasets(FIRST_ENTRY)));
		if (!(list instanceof CliError)) {
			doctor.datasets = list.items;
			return ok(`${host} answers like the API`);
		}
		const cause = restErrorOf(list);
		if (cause?.code !== "KEY_REJECTED") return cause ? unanswered(cause, list) : failed(list);
		doctor.refusedKey = list;
		return ok(`${host} answers`);
	}),
	{
		name: "key",
		next: "ragtag doctor --api-key-file PATH",
		check: ({ refusedKey, datasets, settings }) => {
			if (refusedKey !== undefined) throw refusedKey;
			return datasets && ok(`the service accepts the key from ${settings.keyOrigin ?? "the settings"}`);
		},
	},
	{
		name: "clock",
		// This machine's clock against the `Date` of an answer, which has whole seconds.
		check: ({ firstAnswer }) => {
			if (firstAnswer === undefined) return undefined;
			const seconds = Math.round((firstAnswer.at - Date.parse(firstAnswer.date ?? "")) / 1000);
			if (Number.isNaN(seconds)) return skipped("the service's answers have no date");
			const size = Math.abs(seconds);
			// The answer took time to arrive.
			if (size <= 2) return ok("this machine's clock agrees with the service's");
			const text = `this machine's clock is ${size} s ${seconds > 0 ? "ahead of" : "behind"} the service's`;
			if (size <= MAX_SKEW) return ok(text);
			const hint = "Set the clock that is wrong: times in reports and waits that the service asks for depend on it.";
			return warning(text, hint);
		},
	},
];

const OTHERS: readonly Step[] = [
	// The kind of server, how that is known, and what contradicts the settings. The service notes one that has changed.
	asking("flavour", async (session, doctor) => {
		const { settings, flags } = doctor;
		const found = await session.service.detect(session.request);
		doctor.recognition = found;
		const { flavour, form, how, proven } = found;
		const proof =
			proven !== undefined ? "a write that was read back confirmed this" : "no write has confirmed this yet";
		const words = BODY_FORMS.find(({ name }) => name === form)?.words ?? form;
		const text = `${flavour.servers} (${flavour.name}): ${how}. Updates are sent as ${words}; ${proof}`;
		const doubts: string[] = [];
		const hints: string[] = [];
		const wanted = given("--flavour", flags.flavour, settings.flavour);
		if (wanted !== undefined && wanted.value !== "auto" && wanted.value !== flavour.name) {
			doubts.push(`${wanted.origin} says ${wanted.value}`);
			hints.push(`Take flavour out of ${wanted.origin}, and it is detected.`);
		}
		const { body } = settings;
		if (body !== undefined && body.value !== "auto" && !flavour.update.forms.includes(body.value)) {
			doubts.push(`${body.origin} asks for the body form ${body.value}, which this kind of server does not accept`);
			hints.push(`Take body out of ${body.origin}.`);
		}
		return doubts.length === 0 ? ok(text) : warning(`${text}. But ${doubts.join("; ")}`, hints.join(" "));
	}),
	asking("dataset", async (session, doctor) => {
		const { flags, settings, app } = doctor;
		const wanted = given("--dataset", flags.dataset, settings.dataset);
		if (wanted === undefined) {
			const [first] = doctor.datasets ?? [];
			if (first === undefined) {
				return skipped("there is no dataset yet", "Create one with: ragtag datasets create NAME");
			}
			const { id, name, documentCount: documents } = first;
			doctor.dataset = { id, documents };
			return ok(`no dataset was given; the first one is ${show(name)}, ${show(id)}${countText(documents)}`);
		}
		const found = await attempt(async () => {
			const id = (await datasetId({ flags, settings, session, app })) ?? wanted.value;
			const { total } = await session.request(() => spoken(doctor, session).listDocuments(id, FIRST_ENTRY));
			return { id, documents: total };
		});
		if (found instanceof CliError) {
			const { message, hint, exit } = found;
			// A name that no dataset has is a fact about the service, as an unknown id is.
			const own = exit === Exit.usage ? Exit.failedRows : exit;
			return failed({ message, hint, exit: own }, "ragtag datasets list");
		}
		doctor.dataset = found;
		const { id, documents } = found;
		return ok(`${show(id)} (${wanted.origin}) can be listed${countText(documents)}`);
	}),
	asking("right", async (session, doctor) => {
		const { dataset, recognition } = doctor;
		if (dataset === undefined) return skipped("not checked, because there is no dataset");
		if (recognition === undefined) return skipped("not checked, because the kind of the service is not known");
		const where = `in dataset ${show(dataset.id)}`;
		switch (await session.request(() => spoken(doctor, session).probeRight(dataset.id))) {
			case "may":
				return ok(`this key may update metadata ${where}; the check changed nothing`);
			case "unknown": {
				const text = `whether this key may update metadata ${where} can't be checked without a write`;
				return warning(text, "The first row of a run shows it.");
			}
			case "may_not": {
				const message = recognition.flavour.onlyOwnerUpdates
					? `this key can list, upload and remove ${where}, but may not update: only the owner's key may`
					: `this key can list ${where}, but may not update`;
				const hint = "Use the key of the dataset's owner.";
				return failed({ message, hint, exit: Exit.failedRows }, "ragtag doctor --api-key-file PATH");
			}
		}
	}),
	asking("latency", async (session, doctor) => {
		const { clock } = doctor.app;
		const times: number[] = [];
		for (let turn = 0; turn < LATENCY_REQUESTS; turn += 1) {
			const time = await session.request(async () => {
				// Measured within the request, so that waiting for the limiter does not count.
				const started = clock.now();
				await session.api.listDatasets(FIRST_ENTRY);
				return clock.now() - started;
			});
			times.push(time);
		}
		const sorted = times.toSorted((one, other) => one - other);
		const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
		doctor.latency = median;
		const slowest = millisecondsText(sorted.at(-1) ?? 0);
		return ok(
			`median ${millisecondsText(median)}, slowest ${slowest} of ${times.length} list requests, one after another`,
		);
	}),
	{
		name: "rate",
		// The rate that is safe at that latency, and whether the rate that was set is higher.
		check: ({ latency, settings, flags, recognition }) => {
			if (latency === undefined) return undefined;
			const safe = safeRate(latency);
			const pace = recognition?.flavour.knownSpeed;
			const known = pace === undefined ? "" : `; ${pace}`;
			const text = `${safe} requests a second are safe: at most ${MAX_CONCURRENCY} are in flight, and the service's documentation advises at most ${ADVISED_RATE}${known}`;
			const wanted = given("--rate", flags.rate, settings.rate);
			const highest = wanted === undefined ? 0 : highestRate(wanted.value);
			if (wanted === undefined || (highest !== "unlimited" && highest <= safe)) return ok(text);
			const asked = highest === "unlimited" ? "removes the cap" : `asks for ${highest}`;
			return warning(`${text}; ${wanted.origin} ${asked}`, `Use --rate ${safe}.`);
		},
	},
];

/** The checks after those of this machine, in stages. No request changes anything. */
export const STAGES: readonly (readonly Step[])[] = [[DNS], [TLS], [CONNECTION], ANSWERS, OTHERS];

/** The service in the dialect that was detected. */
function spoken({ recognition }: Doctor, { api }: Session): Api {
	return recognition === undefined ? api : api.as({ flavour: recognition.flavour, form: recognition.form });
}

function countText(documents: number | undefined): string {
	return documents === undefined ? "" : `, and has ${documentsText(documents)}`;
}

function millisecondsText(milliseconds: number): string {
	return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
