import type { Command } from "commander";
import type { App } from "../app.ts";
import type { ExitCode } from "../errors.ts";

/** Takes the exit code of the command that ran. */
export type Done = (exit: ExitCode) => void;

/** What a command needs to declare itself: where it hangs, what it works with, where its exit code goes. */
export type Declare = (parent: Command, app: App, done: Done) => void;
