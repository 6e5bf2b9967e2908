import type { Command } from "commander";
import type { App } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import type { RunFile } from "../run/recorded/run-file.ts";
import type { RunFlags } from "./flags.ts";
import type { PayloadFlags } from "./payload-options.ts";

/** Receives the exit code of the command that ran. */
export type Done = (exit: ExitCode) => void;

/** Declares a command: its parent, the parts it works with, and the receiver of its exit code. */
export type Declare = (parent: Command, app: App, done: Done) => void;

/** Resumes a recorded run. `flags` are those of its record that change what is sent, and those of this call, which win. */
export type Resume = (file: RunFile, flags: PayloadFlags & RunFlags, app: App) => Promise<ExitCode>;
