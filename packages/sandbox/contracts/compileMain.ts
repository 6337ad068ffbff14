import { writeFile } from "node:fs/promises"
import { artifactUrl, compileContract, contractNames } from "./ContractCompiler.ts"

for (const contract of contractNames) {
  const artifact = await compileContract(contract)
  await writeFile(artifactUrl(artifact.contract), `${JSON.stringify(artifact, undefined, 2)}\n`)
  console.log(`${artifact.contract}: ${artifact.bytecode.length / 2 - 1} bytes, solc ${artifact.compiler}`)
}
