import { flavours, isFlavour } from "../../src/sandbox/flavours/index.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/index.ts";
import { contract } from "./contract.ts";

for (const flavour of flavours.filter(isFlavour)) {
	let sandbox: Sandbox | undefined;
	contract(
		`the sandbox as ${flavour}`,
		async () => (sandbox = await startSandbox({ port: 0, flavour })),
		async () => sandbox?.close(),
		flavour === "ragflow-0.24",
	);
}
