import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../scripts/picture.mjs", import.meta.url));

/** util-linux: macOS has another program of that name. */
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

it.skipIf(!hasScript)(
	"the README's picture shows what its commands print today, or newcomers learn an old program",
	() => {
		const { stderr } = spawnSync(process.execPath, [SCRIPT, "--check"], { encoding: "utf8", timeout: 120_000 });
		expect(stderr).toBe("");
	},
	130_000,
);
