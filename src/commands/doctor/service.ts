import type { App, Session, Settings } from "../../app.ts";
import type { Check } from "../../report/checks.ts";
import type { Recognition } from "../../run/service/service-memory.ts";
import { safeRate } from "../../run/rate/concurrency.ts";
import { clockCheck, flavourCheck, latencyCheck, latencyOf, rateCheck, refusalChecks } from "./answers.ts";
import { WARN } from "../../run/documents/searches.ts";
import { attempt, failed, skipped } from "./check-results.ts";
import { type DoctorFlags, flavourSetting, rateSetting } from "./configuration.ts";
import { datasetId } from "../../workflows/dataset.ts";
import { type Chosen, datasetCheck, rightCheck, valuesCheck } from "./dataset.ts";

/** Values that the checks of the service found, for later checks and the last line. */
export type Findings = {
	recognition?: Recognition | undefined;
	dataset?: Chosen | undefined;
	/** median, in milliseconds */
	latency?: number;
	/** requests a second */
	safeRate?: number;
};

/** The `Date` of the first answer, and when it had arrived, in epoch milliseconds. */
export type FirstAnswer = { readonly date: string | undefined; readonly at: number };

export type ServiceContext = {
	readonly app: App;
	readonly session: Session;
	readonly settings: Settings;
	readonly flags: DoctorFlags;
	/** undefined until there was an answer */
	readonly firstAnswer: () => FirstAnswer | undefined;
	readonly findings: Findings;
};

/** Requests that measure the latency: enough for a median that one slow answer does not change. */
const LATENCY_REQUESTS = 5;
const FIRST_ENTRY = { page: 1, pageSize: 1 };

/** Checks that need the service. No request changes anything. */
export async function* serviceChecks(context: ServiceContext): AsyncGenerator<Check, void, undefined> {
	const { session, settings, firstAnswer } = context;
	const { api, request } = session;
	const host = new URL(settings.requireBaseUrl().value).host;
	const list = await attempt(() => request(() => api.listDatasets(FIRST_ENTRY)));
	if ("error" in list) yield* refusalChecks(list.error, host);
	else {
		yield { name: "service", status: "ok", text: `${host} answers like the API` };
		const origin = settings.keyOrigin ?? "the settings";
		yield { name: "key", status: "ok", text: `the service accepts the key from ${origin}` };
	}
	const answer = firstAnswer();
	if (answer !== undefined) yield clockCheck(answer.date, answer.at);
	if ("error" in list) return;
	yield await recognise(context);
	yield* rightsChecks(context, list.value.items[0]);
	yield* paceChecks(context);
}

async function recognise({ session, settings, flags, findings }: ServiceContext): Promise<Check> {
	const { service, request } = session;
	const before = service.recognition;
	const asked = await attempt(() => service.detect(request));
	if ("error" in asked) return failed("flavour", asked.error);
	findings.recognition = asked.value;
	return flavourCheck(asked.value, before, { flavour: flavourSetting(settings, flags.flavour), body: settings.body });
}

async function* rightsChecks(
	{ app, session, settings, flags, findings }: ServiceContext,
	first: Parameters<typeof datasetCheck>[1],
): AsyncGenerator<Check, void, undefined> {
	const { api, request } = session;
	const { recognition } = findings;
	const dialect = recognition === undefined ? api.dialect : { flavour: recognition.flavour, form: recognition.form };
	const spoken = api.as(dialect);
	const given = flags.dataset === undefined ? settings.dataset : { value: flags.dataset, origin: "--dataset" };
	const resolved = await attempt(() => datasetId({ flags, settings, session, app }));
	const named = given && { ...given, value: ("error" in resolved ? undefined : resolved.value) ?? given.value };
	const listed =
		named === undefined
			? undefined
			: "error" in resolved
				? resolved
				: await attempt(async () => (await request(() => spoken.listDocuments(named.value, FIRST_ENTRY))).total);
	const { check, chosen } = datasetCheck(named, first, listed);
	yield check;
	findings.dataset = chosen;
	if (chosen === undefined) return yield skipped("right", "not checked, because there is no dataset");
	if (recognition === undefined)
		return yield skipped("right", "not checked, because the kind of the service is not known");
	const right = await attempt(() => request(() => spoken.probeRight(chosen.id)));
	yield "error" in right
		? failed("right", right.error)
		: rightCheck(right.value, chosen.id, recognition.flavour.onlyOwnerUpdates);
	yield await valuesCheck(spoken, session.service.searches.believing(request, WARN), chosen);
}

async function* paceChecks({
	app,
	session,
	settings,
	flags,
	findings,
}: ServiceContext): AsyncGenerator<Check, void, undefined> {
	const { api, request } = session;
	const times: number[] = [];
	for (let turn = 0; turn < LATENCY_REQUESTS; turn += 1) {
		const taken = await attempt(() =>
			request(async () => {
				// Measured within the request, so that waiting for the limiter does not count.
				const started = app.clock.now();
				await api.listDatasets(FIRST_ENTRY);
				return app.clock.now() - started;
			}),
		);
		if ("error" in taken) return yield failed("latency", taken.error);
		times.push(taken.value);
	}
	yield latencyCheck(times);
	findings.latency = latencyOf(times).median;
	findings.safeRate = safeRate(findings.latency);
	yield rateCheck(findings.latency, rateSetting(settings, flags.rate), findings.recognition?.flavour.knownSpeed);
}
