import { type Flavour, flavours } from "../../src/rest/flavours.ts";

function named(name: string): Flavour {
	const flavour = flavours.find((each) => each.name === name);
	if (flavour === undefined) throw new Error(`there is no flavour ${name}`);
	return flavour;
}

export const ragflowPut = named("ragflow-put");
export const ragflowPatch = named("ragflow-patch");
export const ragflow1 = named("ragflow-1.0");
