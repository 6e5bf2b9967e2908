import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { execute, writeProgram } from "../support/actions.ts";
import { fileOf } from "../support/kit-pages.ts";
import { samplesOf } from "../support/metrics.ts";
import { folder, KEY, serve, type Service } from "../support/service.ts";
import { crontabOf, unitOf } from "../support/units.ts";
import { listen } from "../support/listen.ts";

const crontab = await fileOf("cron.md", "crontab", "/etc/cron.d/ragtag");
const service = await fileOf("cron.md", "ini", "/etc/systemd/system/ragtag-tags.service");

/** A machine with the folders of the page, below a folder of its own, and a monitor. */
async function machine(knowledge: Service) {
	const root = await folder();
	for (const name of [
		"srv/rag",
		"etc/ragtag",
		"var/log/ragtag",
		"var/lib/prometheus/node-exporter",
		"home",
		"var/lib/ragtag",
	])
		await mkdir(join(root, name), { recursive: true });
	await mkdir(join(root, "usr/local/bin"), { recursive: true });
	await writeProgram(join(root, "usr/local/bin"));
	await writeFile(join(root, "etc/ragtag/api-key"), `${KEY}\n`);
	await chmod(join(root, "etc/ragtag/api-key"), 0o600);
	const monitor = await listen((request, response) => void request.resume().on("end", () => response.end("OK")));
	const here = (text: string): string =>
		text
			.replaceAll(
				/\/(?:srv\/rag|etc\/ragtag|var\/log\/ragtag|var\/lib\/prometheus|var\/lib\/ragtag|usr\/local)\b/g,
				`${root}$&`,
			)
			.replaceAll("https://hc-ping.com", monitor.url)
			.replaceAll("https://rag.example.com", knowledge.url);
	const path = join(root, "srv/rag/tags.csv");
	return {
		root,
		pings: monitor.requests,
		here,
		manifest: (rows: readonly string[]) =>
			writeFile(
				path,
				`document_id,dataset_id,team\n${rows.map((id) => `${id},${knowledge.dataset},legal\n`).join("")}`,
			),
		log: () => readFile(join(root, "var/log/ragtag/tags.log"), "utf8"),
		/** a gauge of the exporter's file, whatever its labels */
		metric: async (name: string): Promise<string | undefined> => {
			const text = await readFile(join(root, "var/lib/prometheus/node-exporter/ragtag-tags.prom"), "utf8");
			return Object.entries(samplesOf(text)).find(([full]) => full.startsWith(name))?.[1];
		},
	};
}

type Machine = Awaited<ReturnType<typeof machine>>;

/** The line of the crontab as cron runs it. What it prints is the text of the mail. */
async function night({ root, here }: Machine, change = (command: string): string => command) {
	const { env, command } = crontabOf(here(crontab));
	const given = { ...env, PATH: `${env["PATH"] ?? ""}:${dirname(process.execPath)}` };
	// crontab(5): these four, the variables of the crontab, and nothing of a login.
	const own = { HOME: join(root, "home"), LOGNAME: "ragtag", SHELL: "/bin/sh" };
	const { exit, stdout, stderr } = await execute("/bin/sh", ["-c", change(command)], {
		cwd: join(root, "home"),
		env: { ...own, ...given },
	});
	return { exit, mail: stdout + stderr };
}

describe("a night of docs/cron.md", () => {
	it("sends no mail when all went well, and tells the monitor and the exporter", async () => {
		const knowledge = await serve(10);
		const there = await machine(knowledge);
		await there.manifest(await knowledge.ids());
		expect(await night(there)).toEqual({ exit: 0, mail: "" });
		expect(there.pings).toEqual(["GET /YOUR-UUID/start", "POST /YOUR-UUID/0"]);
		expect(await there.metric("ragtag_last_run_exit_code")).toBe("0");
		expect(await there.metric("ragtag_last_success_timestamp_seconds")).toMatch(/^\d+/);
		expect(await there.log()).toContain("10 rows: 10 updated");
		expect(crontab).not.toContain("%");
	});

	it("mails the row that failed, pings its exit code, and keeps the time of the last success", async () => {
		const knowledge = await serve(5);
		const there = await machine(knowledge);
		await there.manifest(await knowledge.ids());
		expect((await night(there)).exit).toBe(0);
		const success = await there.metric("ragtag_last_success_timestamp_seconds");
		await there.manifest([...(await knowledge.ids()), "f".repeat(32)]);
		const { exit, mail } = await night(there);
		expect(exit).toBe(1);
		expect(mail).toMatch(/tags\.csv:7: NOT_FOUND: document f{32} /);
		expect(mail).toMatch(/6 rows: 5 unchanged, 1 failed .*would fail again/);
		expect(there.pings.at(-1)).toBe("POST /YOUR-UUID/1");
		expect(await there.metric("ragtag_last_run_exit_code")).toBe("1");
		expect(await there.metric("ragtag_last_success_timestamp_seconds")).toBe(success);
	});

	it("sends nothing while the night before is active: exit 5, and the first run is not disturbed", async () => {
		const knowledge = await serve(200, { latency: 40 });
		const there = await machine(knowledge);
		await there.manifest(await knowledge.ids());
		const first = night(there);
		await expect.poll(() => knowledge.requests.length).toBeGreaterThan(12);
		const second = await night(there);
		expect(second).toEqual({ exit: 5, mail: expect.stringMatching(/nothing was sent/) });
		expect(there.pings.filter((ping) => !ping.endsWith("/start"))).toEqual([]);
		expect(await first).toEqual({ exit: 0, mail: "" });
		expect(await there.metric("ragtag_last_run_exit_code")).toBe("0");
	});

	it("stops when its time is over, and the next night sends what is left", async () => {
		const knowledge = await serve(300);
		const there = await machine(knowledge);
		await there.manifest(await knowledge.ids());
		const stopped = await night(there, (command) => command.replace("--max-duration 4h", "--max-duration 1s"));
		expect(stopped).toEqual({
			exit: 9,
			mail: expect.stringMatching(/stopped by --max-duration 1s\n300 rows: .*pending/),
		});
		expect(there.pings.at(-1)).toBe("POST /YOUR-UUID/0");
		const quiet = (command: string): string => `m=$(${command.replace("4h", "1s")} 2>&1) || [ $? -eq 9 ] || echo "$m"`;
		expect(await night(there, quiet)).toEqual({ exit: 0, mail: "" });
		expect(await there.metric("ragtag_last_run_exit_code")).toBe("9");
		expect(await night(there)).toEqual({ exit: 0, mail: "" });
		expect(await there.log()).toContain("Resuming run ");
		expect((await knowledge.documents()).every(({ metadata }) => JSON.stringify(metadata) === '{"team":"legal"}')).toBe(
			true,
		);
		const runs = await readdir(join(there.root, "home/.local/state/ragtag/runs"));
		expect(runs.filter((name) => !name.startsWith("."))).toHaveLength(1);
	});
});

describe("the service of docs/cron.md", () => {
	it("runs in an empty environment, with the key from the folder of its credentials", async () => {
		const knowledge = await serve(3);
		const there = await machine(knowledge);
		await there.manifest(await knowledge.ids());
		const unit = unitOf(there.here(service));
		const [name = "", source = ""] = (unit.get("LoadCredential")?.[0] ?? "").split(":");
		const credentials = join(there.root, "credentials");
		await mkdir(credentials, { mode: 0o500 });
		await chmod(credentials, 0o700);
		await writeFile(join(credentials, name), await readFile(source), { mode: 0o400 });
		const settings = (unit.get("Environment") ?? []).map((line) => line.split("=") as [string, string]);
		const env = {
			// systemd gives a PATH; here Node may lie elsewhere.
			PATH: `/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}`,
			CREDENTIALS_DIRECTORY: credentials,
			...Object.fromEntries(settings),
		};
		const [program = "", ...words] = (unit.get("ExecStart")?.[0] ?? "").split(" ");
		const { exit, stdout, stderr } = await execute(program, words, { cwd: "/", env });
		expect([exit, stdout, stderr]).toEqual([0, "", ""]);
		expect(there.pings.at(-1)).toBe("POST /YOUR-UUID/0");
		expect(await there.metric("ragtag_last_run_exit_code")).toBe("0");
		expect((await knowledge.documents()).map(({ metadata }) => metadata)).toEqual(Array(3).fill({ team: "legal" }));
		expect(await readdir(join(there.root, "var/lib/ragtag"))).toContain("runs");
	});
});
