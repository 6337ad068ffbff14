#!/usr/bin/env node
import { runOnNode, runProgram } from "@agentos/node/command-line"
import { COMMAND_TREE } from "./command/Commands.ts"

// Connections that were left open do not keep a finished command running.
void runOnNode((host) => runProgram(host, COMMAND_TREE)).then(() => process.exit())
