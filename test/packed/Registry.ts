import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

/** An npm registry on this machine that has only the packed files of a folder. */
export interface Registry {
  readonly url: string
  /** The version of each package by its name. */
  readonly versions: Readonly<Record<string, string>>
  readonly stop: () => void
}

interface Packed {
  readonly file: string
  readonly bytes: Buffer
  readonly manifest: { readonly name: string; readonly version: string }
}

const read = (folder: string, file: string): Packed => {
  const path = join(folder, file)
  const manifest = execFileSync("tar", ["-xzOf", path, "package/package.json"], { encoding: "utf8" })
  return { file, bytes: readFileSync(path), manifest: JSON.parse(manifest) as Packed["manifest"] }
}

export const startRegistry = async (folder: string): Promise<Registry> => {
  const all = readdirSync(folder).map((file) => read(folder, file))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1)
    const file = all.find((packed) => packed.file === path)
    if (file !== undefined) return response.end(file.bytes)
    const found = all.find(({ manifest }) => manifest.name === path)
    if (found === undefined) return response.writeHead(404).end("{}")
    const { bytes, manifest } = found
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`
    const version = { ...manifest, dist: { tarball: `${url}/${found.file}`, integrity } }
    response.setHeader("content-type", "application/json")
    return response.end(
      JSON.stringify({
        name: manifest.name,
        "dist-tags": { latest: manifest.version },
        versions: { [manifest.version]: version }
      })
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    versions: Object.fromEntries(all.map(({ manifest }) => [manifest.name, manifest.version])),
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
