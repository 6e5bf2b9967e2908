import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, it } from "vitest";
import { resolveSettings } from "../../src/settings.ts";
import { complaint, file, world } from "./helpers.ts";
import { folder } from "../support/service.ts";

async function ca(text: string): Promise<string[]> {
	const path = await file(join(await folder(), "ca.pem"), text);
	return (await resolveSettings({}, world({ NODE_EXTRA_CA_CERTS: path }))).readCa();
}

it("a bundle of certificates is read whole", async () => {
	const bundle = `# ours\n${rootCertificates.slice(0, 2).join("\n")}\n`;
	expect(await ca(bundle)).toEqual([bundle]);
});

it("no file, no certificates", async () => {
	expect(await (await resolveSettings({}, world())).readCa()).toEqual([]);
});

it.each([
	["text", "holds no certificate"],
	["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be read, number 1"],
])("%j would fail at the first request, so it fails now", async (text, expected) => {
	const found = await complaint(ca(text));
	expect(found.exit).toBe(2);
	expect(found.text).toContain("NODE_EXTRA_CA_CERTS");
	expect(found.text).toContain(expected);
});

it("the flag comes before the environment, and a missing file is named", async () => {
	const settings = await resolveSettings({ caFile: "/nothing/here.pem" }, world({ NODE_EXTRA_CA_CERTS: "/other" }));
	expect((await complaint(settings.readCa())).text).toContain(
		"the certificate file of --ca-file, /nothing/here.pem, cannot be read",
	);
});
