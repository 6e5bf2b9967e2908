import { startSandbox } from "../../src/sandbox/index.ts";
import { contract } from "./contract.ts";

let stop = async (): Promise<void> => undefined;

contract(
	"the sandbox",
	async () => {
		const sandbox = await startSandbox({ port: 0 });
		stop = () => sandbox.close();
		return sandbox;
	},
	() => stop(),
);
