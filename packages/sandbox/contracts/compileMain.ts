import { writeFile } from "node:fs/promises"
import { artifactUrl, compileContract } from "./ContractCompiler.ts"

const artifact = await compileContract("SandboxUsdt")
await writeFile(artifactUrl(artifact.contract), `${JSON.stringify(artifact, undefined, 2)}\n`)
console.log(`${artifact.contract}: ${artifact.bytecode.length / 2 - 1} bytes, solc ${artifact.compiler}`)
