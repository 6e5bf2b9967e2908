import { writeFileSync } from "node:fs";
import { join } from "node:path";
import nock from "nock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RestErrorKind } from "../../src/rest/errors.ts";
import { documented, type Flavour, flavours } from "../../src/rest/flavours.ts";
import type { BodyForm } from "../../src/body-forms.ts";
import type { Api, Document } from "../../src/rest/types.ts";
import { apiFor } from "./raw-server.ts";
import { folderOfAll } from "../support/service.ts";

const HOST = "http://service.test";
const LIST = "/api/v1/datasets/ds/documents";
const path = join(folderOfAll(), "a.txt");

/** What one endpoint is asked, and what a success says. */
type Endpoint = {
	readonly name: string;
	readonly method: string;
	readonly path: string;
	/** what the body of the request must be */
	readonly body?: RegExp;
	readonly success: unknown;
	readonly form?: BodyForm;
	/** whether the service has accepted the key before: a removal follows a list */
	readonly isLater?: boolean;
	readonly call: (api: Api, listed: Document | undefined) => Promise<unknown>;
};

const metadata = new Map([["a", 1]]);
const FORMS: Readonly<Record<BodyForm, RegExp>> = {
	multipart: /name=""; filename=""\r\ncontent-type: application\/json\r\n\r\n\{"meta_fields":\{"a":1\}\}\r\n--/i,
	plain: /^\{"meta_fields":\{"a":1\}\}$/,
	json: /^\{"meta_fields":\{"a":1\}\}$/,
};

function endpointsOf(flavour: Flavour): Endpoint[] {
	const isByBody = flavour !== documented;
	return [
		{
			name: "list datasets",
			method: "GET",
			path: "/api/v1/datasets?page=1&page_size=10",
			success: [{ id: "ds", name: "handbooks" }],
			call: (api) => api.listDatasets({ page: 1, pageSize: 10 }),
		},
		{
			name: "create a dataset",
			method: "POST",
			path: "/api/v1/datasets",
			body: /^\{"name":"handbooks"\}$/,
			success: { id: "ds", name: "handbooks" },
			call: (api) => api.createDataset("handbooks"),
		},
		{
			name: "list documents",
			method: "GET",
			path: `${LIST}?page=1&page_size=10`,
			success: { total: 0, docs: [] },
			call: (api) => api.listDocuments("ds", { page: 1, pageSize: 10 }),
		},
		{
			name: "upload",
			method: "POST",
			path: LIST,
			body: /name="file"; filename="a.txt"[\s\S]*\r\n\r\nfour\r\n--/,
			success: [{ id: "d1", name: "a.txt", size: 4 }],
			call: (api) => api.uploadDocument("ds", { path, name: "a.txt", size: 4 }),
		},
		...flavour.update.forms.map((form) => ({
			name: `update, ${form}`,
			method: flavour.update.verb,
			path: `${LIST}/d1`,
			body: FORMS[form],
			success: { [isByBody ? "id" : "document_id"]: "d1" },
			form,
			call: (api: Api) => api.updateMetadata("ds", "d1", metadata),
		})),
		...(isByBody
			? [
					{
						name: "rename",
						method: flavour.update.verb,
						path: `${LIST}/d1`,
						body: /^\{"name":"b.txt"\}$/,
						success: { id: "d1", name: "b.txt" },
						call: (api: Api) => api.renameDocument("ds", "d1", "b.txt"),
					},
					{
						name: "parse",
						method: "POST",
						path: "/api/v1/datasets/ds/chunks",
						body: /^\{"document_ids":\["d1","d2"\]\}$/,
						success: undefined,
						call: (api: Api) => api.parseDocuments("ds", ["d1", "d2"]),
					},
				]
			: []),
		{
			name: "remove",
			method: "DELETE",
			path: isByBody ? LIST : `${LIST}/d1`,
			...(isByBody ? { body: /^\{"ids":\["d1"\]\}$/ } : {}),
			success: isByBody ? undefined : { document_id: "d1" },
			isLater: true,
			call: async (api, listed) => {
				if (listed === undefined) throw new Error("nothing was listed");
				await api.removeDocument(listed);
			},
		},
	];
}

type Expected = { readonly kind: RestErrorKind; readonly code: string; readonly retryAfter?: number };
type Answer = {
	readonly name: string;
	readonly status: number;
	readonly body: unknown;
	readonly headers?: Readonly<Record<string, string>>;
	/** what it means where nothing below says otherwise */
	readonly means: Expected;
	/** where the endpoint is one that every service of this API has */
	readonly ofDatasets?: Expected;
	/** where the key was accepted before */
	readonly later?: Expected;
};

const fault = (status: number, message = "no"): Pick<Answer, "status" | "body"> => ({
	status,
	body: { code: status, message },
});

const coded = (code: number, more: object = {}): Pick<Answer, "status" | "body"> => ({
	status: 200,
	body: { code, message: "no", ...more },
});

const NO_API: Expected = { kind: "not_the_api", code: "NOT_THE_API" };
const REFUSED: Expected = { kind: "untrusted", code: "KEY_REJECTED" };

const ANSWERS: readonly Answer[] = [
	{ name: "code 100", ...coded(100), means: { kind: "contradiction", code: "CODE_100" } },
	{ name: "code 102", ...coded(102), means: { kind: "rejected", code: "CODE_102" } },
	{ name: "code 109", ...coded(109), means: REFUSED },
	{ name: "code 0 and data false", ...coded(0, { data: false }), means: REFUSED },
	{ name: "400", ...fault(400), means: { kind: "rejected", code: "HTTP_400" } },
	{ name: "401", ...fault(401), means: REFUSED, later: { kind: "doubted", code: "KEY_REJECTED" } },
	{ name: "403", ...fault(403), means: { kind: "rejected", code: "FORBIDDEN" } },
	{ name: "403 of a proxy", status: 403, body: "<h1>403</h1>", means: { kind: "rejected", code: "PROXY_REFUSED" } },
	{ name: "404", ...fault(404), means: { kind: "rejected", code: "NOT_FOUND" }, ofDatasets: NO_API },
	{ name: "405", ...fault(405), means: { kind: "contradiction", code: "HTTP_405" } },
	{ name: "408", ...fault(408), means: { kind: "ambiguous", code: "HTTP_408" } },
	{ name: "409", ...fault(409), means: { kind: "rejected", code: "HTTP_409" } },
	{ name: "413", ...fault(413), means: { kind: "rejected", code: "HTTP_413" } },
	{ name: "429", ...fault(429), means: { kind: "throttled", code: "HTTP_429" } },
	{
		name: "429 with Retry-After",
		...fault(429),
		headers: { "retry-after": "12" },
		means: { kind: "throttled", code: "HTTP_429", retryAfter: 12_000 },
	},
	{ name: "500", ...fault(500), means: { kind: "ambiguous", code: "HTTP_500" } },
	{ name: "502", ...fault(502), means: { kind: "ambiguous", code: "HTTP_502" } },
	{ name: "503", ...fault(503), means: { kind: "ambiguous", code: "HTTP_503" } },
	{
		name: "503 with Retry-After",
		...fault(503),
		headers: { "retry-after": "7" },
		means: { kind: "throttled", code: "HTTP_503", retryAfter: 7_000 },
	},
	{ name: "504", ...fault(504), means: { kind: "ambiguous", code: "HTTP_504" } },
	{
		name: "an HTML page under 200",
		status: 200,
		body: "<!doctype html><title>Sign in</title>",
		headers: { "content-type": "text/html" },
		means: NO_API,
	},
	{
		name: "a redirect to the same service",
		status: 302,
		body: "",
		headers: { location: `${HOST}/api/v2/datasets` },
		means: { kind: "untrusted", code: "REDIRECT" },
	},
];

beforeAll(() => {
	writeFileSync(path, "four");
	if (!nock.isActive()) nock.activate();
	nock.disableNetConnect();
});

afterEach(() => nock.cleanAll());

afterAll(() => {
	nock.enableNetConnect();
	nock.restore();
});

/** Calls an endpoint that answers so, once. What the call came to, and how many requests it sent. */
async function ask(
	flavour: Flavour,
	endpoint: Endpoint,
	{ status, body, headers = {} }: Pick<Answer, "status" | "body" | "headers">,
): Promise<{ readonly result: unknown; readonly error: unknown; readonly requests: number }> {
	const api = apiFor(`${HOST}/api/v1`, {
		dialect: { flavour, form: endpoint.form ?? flavour.update.forms[0] },
		connections: 1,
	});
	let listed: Document | undefined;
	if (endpoint.isLater === true) {
		const docs = [{ id: "d1", dataset_id: "ds", name: "a.txt" }];
		const list = nock(HOST).get(`${LIST}?page=1&page_size=1&id=d1`);
		list.reply(200, { code: 0, data: { total: 1, docs } });
		listed = (await api.listDocuments("ds", { page: 1, pageSize: 1, id: "d1" })).items[0];
	}
	let requests = 0;
	const counted = (): void => void (requests += 1);
	// Also one that no interceptor awaits: the second try of a client that tries again by itself.
	nock.emitter.on("no match", counted);
	const text = typeof body === "string" ? body : JSON.stringify(body);
	const scope = nock(HOST, { reqheaders: { authorization: /^Bearer ragflow-/ } })
		.intercept(endpoint.path, endpoint.method, endpoint.body)
		.reply(status, text, { "content-type": "application/json", ...headers });
	scope.on("request", counted);
	try {
		const result = await endpoint.call(api, listed).then(
			(value) => ({ result: value, error: undefined }),
			(error: unknown) => ({ result: undefined, error }),
		);
		// An interceptor that was not used: the request was another one than the endpoint's.
		expect(nock.pendingMocks()).toEqual([]);
		return { ...result, requests };
	} finally {
		nock.emitter.off("no match", counted);
		await api.close();
	}
}

describe.each(flavours.map((flavour) => [flavour.name, flavour] as const))("%s", (_, flavour) => {
	describe.each(endpointsOf(flavour).map((endpoint) => [endpoint.name, endpoint] as const))("%s", (name, endpoint) => {
		test("code 0 is a success, of one request", async () => {
			const body = { code: 0, ...(endpoint.success === undefined ? {} : { data: endpoint.success }) };
			expect(await ask(flavour, endpoint, { status: 200, body })).toMatchObject({ error: undefined, requests: 1 });
		});

		test.each(ANSWERS.map((answer) => [answer.name, answer] as const))(
			"%s has its documented meaning, and is requested once",
			async (__, answer) => {
				const ofDatasets = name.endsWith("datasets") || name.endsWith("a dataset") ? answer.ofDatasets : undefined;
				const later = endpoint.isLater === true ? answer.later : undefined;
				const expected = ofDatasets ?? later ?? answer.means;
				const { error, requests } = await ask(flavour, endpoint, answer);
				expect(error).toMatchObject({ name: "RestError", ...expected });
				expect(error).toHaveProperty("retryAfter", expected.retryAfter);
				expect(requests).toBe(1);
			},
		);
	});
});
