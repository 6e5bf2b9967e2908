import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { hasOpenssl, selfSigned, unlessSkipped } from "../../support/certificate.ts";
import { listen } from "../../support/listen.ts";
import { ragflow, RAGFLOW_DATASET } from "../../support/ragflow.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY, profilesIn, serve } from "../../support/service.ts";
import { at, keys, parseLines } from "../../support/values.ts";

const NAMES = [
	"address",
	"proxy",
	"storage",
	"dns",
	"tls",
	"service",
	"key",
	"clock",
	"flavour",
	"dataset",
	"right",
	"latency",
	"rate",
];

/** The lines of `--json` by their type; checks as `name: status`. */
function read({ stdout }: Ended): { checks: Record<string, string>; lines: readonly unknown[]; end: unknown } {
	const lines = parseLines(stdout);
	const checks = lines.filter((line) => at(line, "type") === "check");
	const statuses = Object.fromEntries(checks.map((line) => [String(at(line, "name")), String(at(line, "status"))]));
	return { checks: statuses, lines, end: lines.at(-1) };
}

/** The command, which ends with this exit code, and whose checks have these verdicts. */
async function checked(doctor: Promise<Ended>, exit: number, checks: Record<string, string>): Promise<Ended> {
	const ended = await doctor;
	expect([ended.exit, read(ended).checks]).toMatchObject([exit, checks]);
	return ended;
}

function textOf({ stdout }: Ended, name: string): unknown {
	return at(
		parseLines(stdout).find((line) => at(line, "type") === "check" && at(line, "name") === name),
		"text",
	);
}

it("a working service passes all checks, the next command is printed, and nothing is changed", async () => {
	const service = await serve(3);
	const before = await service.documents();
	const { exit, stdout, stderr } = await ragtag(["doctor"], { env: envOf(service) });
	expect([exit, stderr]).toEqual([0, ""]);
	expect(stdout).toContain(`api_key    set, not shown (RAGTAG_API_KEY)`);
	expect(stdout).toContain(`${service.url} (RAGTAG_BASE_URL)`);
	expect(stdout).toContain("this key may update metadata");
	expect(stdout).not.toMatch(/failed|warning/);
	expect(stdout.trimEnd().split("\n").at(-1)).toBe(`Next: ragtag manifest init -d ${service.dataset} --out tags.csv`);
	expect(await service.documents()).toEqual(before);
	const quiet = await ragtag(["doctor", "-q"], { env: envOf(service) });
	expect(quiet.stdout).toContain("Next: ");
});

it("-d NAME is checked and resolved, and the next command has its id", async () => {
	const service = await serve(3);
	const { exit, stdout } = await ragtag(["doctor", "-d", "sandbox"], { env: envOf(service) });
	expect(exit).toBe(0);
	expect(stdout).toMatch(new RegExp(`ok +dataset +.*${service.dataset}`));
	expect(stdout.trimEnd().split("\n").at(-1)).toBe(`Next: ragtag manifest init -d ${service.dataset} --out tags.csv`);
});

it("a script gets the version, every setting with its origin, every check, and the verdict last", async () => {
	const service = await serve(3);
	const ended = await ragtag(["doctor", "--json", "-d", service.dataset, "--rate", "50"], { env: envOf(service) });
	const { checks, lines, end } = read(ended);
	expect(ended.exit).toBe(0);
	expect(lines[0]).toMatchObject({ type: "version", schema: 1 });
	const settings = lines.filter((line) => at(line, "type") === "setting");
	expect(settings.map((line) => at(line, "name"))).toEqual([
		"base_url",
		"api_key",
		"profile",
		"state_dir",
		"ca_file",
		"proxy",
		"dataset",
		"rate",
		"flavour",
		"body",
		"limiter",
		"keep_runs",
		"policy",
	]);
	expect(settings).toContainEqual({ type: "setting", name: "api_key", value: null, origin: "RAGTAG_API_KEY" });
	expect(settings).toContainEqual({ type: "setting", name: "rate", value: 50, origin: "--rate" });
	expect(settings).toContainEqual({ type: "setting", name: "dataset", value: service.dataset, origin: "--dataset" });
	expect(keys(checks)).toEqual(NAMES);
	expect(checks).toMatchObject({ dns: "skipped", tls: "skipped", key: "ok", clock: "ok", flavour: "ok", right: "ok" });
	expect(keys(end)).toEqual(["type", "ok", "flavour", "latency_ms", "safe_rate", "exit_code", "next"]);
	expect(end).toMatchObject({ type: "doctor", ok: true, flavour: "documented", safe_rate: 100, exit_code: 0 });
	expect(at(end, "latency_ms")).toBeGreaterThan(0);
});

it("an empty service is no fault: a dataset can be made", async () => {
	const server = await listen((_request, response) => {
		response.writeHead(200, { "content-type": "application/json" }).end('{"code":0,"data":[]}');
	});
	const ended = await checked(ragtag(["doctor", "--json"], { env: envOf(server) }), 0, {
		dataset: "skipped",
		right: "skipped",
		latency: "ok",
	});
	expect(read(ended).end).toMatchObject({ next: "ragtag datasets create NAME" });
});

describe("each fault ends with its exit code, and a line that says what to type", () => {
	it("a wrong key: 4, and checks that do not need the key are still made", async () => {
		const service = await serve(1);
		const env = { ...envOf(service), RAGTAG_API_KEY: "wrong-Zz9Yy8Xx7Ww6" };
		const ended = await checked(ragtag(["doctor", "--json"], { env }), 4, {
			service: "ok",
			key: "failed",
			clock: "ok",
			flavour: "skipped",
		});
		expect(keys(read(ended).checks).toSorted()).toEqual(NAMES.toSorted());
		expect(read(ended).end).toMatchObject({
			ok: false,
			exit_code: 4,
			flavour: null,
			latency_ms: null,
			safe_rate: null,
		});
		expect(ended.stderr).toMatch(/^ragtag: .*key is not accepted\n.*ragtag doctor --api-key-file PATH\n$/);
		expect((await ragtag(["doctor"], { env })).stdout).toContain('not checked, because "key" failed: flavour, dataset');
	});

	it("no server: 6", async () => {
		const ended = await ragtag(["doctor"], { env: { RAGTAG_BASE_URL: "http://127.0.0.1:1", RAGTAG_API_KEY: KEY } });
		await says(ended, 6, /connection was refused\n.*Then type: ragtag doctor\n$/);
	});

	it("a web page instead of the API: 6, and the address is to be checked", async () => {
		const server = await listen((_request, response) => {
			response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>RAGFlow</title>");
		});
		const ended = await checked(ragtag(["doctor", "--json"], { env: envOf(server) }), 6, {
			service: "failed",
			key: "skipped",
			clock: "ok",
		});
		expect(ended.stderr).toContain("must end where /api/v1 begins");
		// The page was asked once: an answer that is no API's must not be asked for what only an API has.
		expect(server.requests).toHaveLength(1);
	});

	it.each([
		[404, "--base-url", 6],
		[405, "--base-url", 6],
		[302, "--base-url", 4],
		[403, "doctor", 1],
	])("status %i of the first answer: %s is to be checked", async (status, next, exit) => {
		const server = await listen((_request, response) => {
			response.writeHead(status, { "content-type": "application/json", location: "http://other.invalid/" });
			response.end('{"code":102,"message":"no"}');
		});
		const ended = await ragtag(["doctor", "--json"], { env: envOf(server) });
		expect(ended.exit).toBe(exit);
		expect(read(ended).checks).toMatchObject({ service: "failed", key: "skipped" });
		expect(at(read(ended).end, "next")).toContain(next);
	});

	it("https at a port that speaks http: 6, and the key is not sent", async () => {
		const server = await listen(ragflow());
		const env = { ...envOf(server), RAGTAG_BASE_URL: server.url.replace("http:", "https:") };
		const ended = await checked(ragtag(["doctor", "--json"], { env }), 6, { tls: "failed", service: "skipped" });
		expect(server.requests).toEqual([]);
		expect(ended.stderr).toContain("Write the address with http://");
	});

	it("a proxy that has no address: 6, and its variable is to be checked", async () => {
		const env = { RAGTAG_BASE_URL: "https://rag.invalid", RAGTAG_API_KEY: KEY, HTTPS_PROXY: "http://proxy.invalid:1" };
		const ended = await says(ragtag(["doctor", "--json"], { env }), 6, "Check the host in HTTPS_PROXY");
		expect(read(ended).checks["dns"]).toEqual("failed");
	});

	it("no address and no key: 2, after the settings, and nothing is sent", async () => {
		const ended = await ragtag(["doctor", "--json"], { home: "/home/user" });
		const { checks, lines, end } = read(ended);
		expect(ended.exit).toBe(2);
		expect(lines).toContainEqual({ type: "setting", name: "base_url", value: null, origin: null });
		expect(lines).toContainEqual(expect.objectContaining({ name: "state_dir", origin: "default" }));
		expect(checks).toMatchObject({ address: "failed", key: "failed", dns: "skipped", service: "skipped" });
		expect(end).toMatchObject({ ok: false, exit_code: 2 });
		for (const word of ["RAGTAG_BASE_URL", "ragtag sandbox"]) expect(ended.stderr).toContain(word);
	});

	it("no key: 2, and no request is made without it", async () => {
		const service = await serve(1);
		await checked(ragtag(["doctor", "--json"], { env: { RAGTAG_BASE_URL: service.url } }), 2, {
			address: "ok",
			proxy: "ok",
			key: "failed",
			service: "skipped",
		});
		expect(service.requests).toEqual([]);
	});

	it("a certificate file that can't be read: 2, and no request is made with less trust", async () => {
		const service = await serve(1);
		await checked(ragtag(["doctor", "--json", "--ca-file", "/nonexistent.pem"], { env: envOf(service) }), 2, {
			ca_file: "failed",
		});
		expect(service.requests).toEqual([]);
	});

	it("a proxy variable that holds no address: 2, without repeating it", async () => {
		const env = { RAGTAG_BASE_URL: "http://rag.example.com", RAGTAG_API_KEY: KEY, HTTP_PROXY: "socks5://u:SECRET@p" };
		const ended = await checked(ragtag(["doctor", "--json"], { env }), 2, { proxy: "failed", dns: "skipped" });
		expect(ended.stdout + ended.stderr).not.toContain("SECRET");
	});

	it("a dataset that is not there: 1, and the rest is checked", async () => {
		const service = await serve(1);
		const ended = await checked(ragtag(["doctor", "--json", "-d", "nowhere"], { env: envOf(service) }), 1, {
			dataset: "failed",
			right: "skipped",
			latency: "ok",
			rate: "ok",
		});
		expect(read(ended).end).toMatchObject({ next: "ragtag datasets list" });
	});
});

describe("RAGFlow", () => {
	it.each(commandFlavours)("as the sandbox imitates it, %s, is recognised by printed signs", async (spoken) => {
		const service = await serve(1, { flavour: spoken });
		const ended = await ragtag(["doctor", "--json"], { env: envOf(service) });
		const [flavour, how] =
			spoken === "documented"
				? ["documented", "it does not answer as a RAGFlow server does"]
				: spoken < "ragflow-0.25"
					? ["ragflow-put", 'it answers PATCH with code 100, "405: Method Not Allowed", and it accepts PUT']
					: spoken === "ragflow-0.25"
						? ["ragflow-patch", 'it answers PUT with code 100, "405: Method Not Allowed", and it accepts PATCH']
						: spoken === "ragflow-1.0"
							? [
									"ragflow-1.0",
									"it has no route for PUT, and it accepts PATCH, and refuses an unknown document in RAGFlow's words",
								]
							: ["ragflow-patch", "it accepts PATCH, and PUT as its alias"];
		expect(read(ended).end).toMatchObject({ flavour });
		expect(textOf(ended, "flavour")).toContain(how);
		if (spoken !== "documented") expect(textOf(ended, "flavour")).toContain("application/json");
		if (flavour === "ragflow-put" || flavour === "ragflow-patch") {
			expect(textOf(ended, "flavour")).toContain("its list of datasets has RAGFlow's members");
		}
	});

	it("a team member's key lists and does not update: 1, before a run of thousands learns it", async () => {
		const server = await listen(ragflow({ isOwner: false }));
		const ended = await checked(ragtag(["doctor", "--json", "-d", RAGFLOW_DATASET], { env: envOf(server) }), 1, {
			key: "ok",
			dataset: "ok",
			right: "failed",
			latency: "ok",
		});
		expect(ended.stderr).toContain("only the owner's key may");
	});

	it.each([
		[0, "ok", "agrees"],
		[-40_000, "ok", " s ahead of"],
		[40_000, "ok", " s behind"],
		[3_600_000, "warning", " s behind"],
		[-3_600_000, "warning", " s ahead of"],
		[Number.NaN, "skipped", "no date"],
	])("whose clock is %i ms ahead: %s, and no failure", async (skew, status, words) => {
		const server = await listen(ragflow({ skew }));
		const ended = await ragtag(["doctor", "--json"], { env: envOf(server) });
		expect([ended.exit, read(ended).checks["clock"]]).toEqual([0, status]);
		expect(textOf(ended, "clock")).toContain(words);
	});

	it("that is set to be another kind is a warning, and one that was detected as another is noted", async () => {
		const options: { verb: "PUT" | "PATCH" } = { verb: "PUT" };
		const server = await listen((request, response) => ragflow(options)(request, response));
		const [env, state] = [envOf(server), await folder()];
		const doctor = (...words: string[]): Promise<Ended> =>
			ragtag(["doctor", "--json", "--state-dir", state, ...words], { env });
		const set = await doctor("--flavour", "documented", "--rate", "unlimited");
		expect([set.exit, read(set).checks["flavour"], read(set).checks["rate"]]).toEqual([0, "warning", "warning"]);
		expect(textOf(set, "flavour")).toMatch(/no write has confirmed this yet. But --flavour says documented$/);
		expect(textOf(set, "rate")).toContain("--rate removes the cap");
		await doctor();
		options.verb = "PATCH";
		expect((await doctor()).stderr).toMatch(/now answers as .*, no longer as RAGFlow v0\.17 to v0\.24/);
	});

	it("of which one answer is slow has the latency of the others", async () => {
		const answer = ragflow();
		let asked = 0;
		const server = await listen((request, response) => {
			const isSlow = request.url?.includes("/datasets?") === true && ++asked === 3;
			setTimeout(() => answer(request, response), isSlow ? 1_500 : 0);
		});
		const ended = await ragtag(["doctor", "--json"], { env: envOf(server) });
		expect(textOf(ended, "latency")).toMatch(/slowest [\d,]{4,} ms of 5/);
		expect(at(read(ended).end, "latency_ms")).toBeLessThan(1_500);
	});
});

it("a service that repeats the key, and a setting that holds it, show no piece of it", async () => {
	const server = await listen((_request, response) => {
		const body = JSON.stringify({ code: 102, message: `no such key ${KEY} ${KEY.slice(10, 20)}` });
		response.writeHead(200, { "content-type": "application/json" }).end(body);
	});
	for (const json of [[], ["--json"]]) {
		// The helper throws where it sees six characters of the key.
		expect((await ragtag(["doctor", "--debug", "-d", KEY.slice(0, 25), ...json], { env: envOf(server) })).exit).toBe(1);
	}
	const path = await ragtag(["doctor"], { env: { ...envOf(server), RAGTAG_BASE_URL: `${server.url}/${KEY}` } });
	expect(path.stdout).toContain("***");
});

describe("TLS", () => {
	it.skipIf(!hasOpenssl)(`an unknown authority is exit 4; --ca-file mends it${unlessSkipped}`, async () => {
		const certificate = await selfSigned({ days: 10 });
		const server = await listen(ragflow(), certificate);
		await says(ragtag(["doctor", "--json"], { env: envOf(server) }), 4, "ragtag doctor --ca-file PATH");
		expect(server.requests).toEqual([]);
		const trusted = await ragtag(["doctor", "--json", "--ca-file", certificate.path], { env: envOf(server) });
		expect(trusted.exit).toBe(0);
		// It ends in ten days: a warning while there is time.
		expect(read(trusted).checks).toMatchObject({ ca_file: "ok", tls: "warning", key: "ok" });
		expect(at(read(trusted).end, "next")).toContain(`--ca-file ${certificate.path}`);
	});
});

it("with a proxy, its variable is printed and its password is not", async () => {
	const proxy = await listen(ragflow());
	const env = {
		RAGTAG_BASE_URL: "http://rag.invalid",
		RAGTAG_API_KEY: KEY,
		http_proxy: `http://user:SECRET@127.0.0.1:${proxy.port}`,
	};
	const ended = await ragtag(["doctor", "--json", "--debug"], { env });
	expect(ended.exit).toBe(0);
	// Not looked up here: only the proxy may know the name. Plain http leaves this machine: a warning.
	expect(read(ended).checks).toMatchObject({ proxy: "ok", dns: "skipped", tls: "warning", key: "ok" });
	const address = `127.0.0.1:${proxy.port}`;
	expect(read(ended).lines).toContainEqual({ type: "setting", name: "proxy", value: address, origin: "http_proxy" });
	expect(ended.stdout + ended.stderr).not.toMatch(/SECRET|user/);
});

it("a profile's settings are shown with its name", async () => {
	const service = await serve(1);
	const key = await file("service.key", `${KEY}\n`);
	const profile = `{base_url: "${service.url}", api_key_file: "${key}", rate: 500, dataset: ${service.dataset}, policy: {protected: [id], max_changes: 5%}}`;
	const home = await folder();
	await profilesIn(home, `{night: ${profile}}`);
	const ended = await ragtag(["doctor", "--json", "--profile", "night"], { home });
	expect(ended.exit).toBe(0);
	const origins = read(ended).lines.filter((line) => at(line, "origin") === "profile night");
	expect(origins.map((line) => at(line, "name"))).toEqual(["base_url", "api_key", "dataset", "rate", "policy"]);
	expect(at(origins.at(-1), "value")).toBe("protected: id; max_changes: 5%");
	expect(read(ended).checks).toMatchObject({ rate: "warning" });
	expect(at(read(ended).end, "next")).toContain("--profile night");
});
