/** The allowed licenses of dependencies, by SPDX id. MPL-2.0 has terms for modified files only, and none is modified. */
const ALLOWED: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "Python-2.0",
  "Unlicense"
])

/** Packages without a license in their manifest, and the license in their files. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  "pkg:npm/memorystream@0.3.1": "MIT"
}

/** Packages with another license that only draw or build. No published package contains them. */
const BUILD_ONLY: ReadonlySet<string> = new Set(["pkg:npm/elkjs@0.11.1"])

/** The parts of a CycloneDX document that name licenses. */
interface Component {
  readonly purl?: string
  readonly name: string
  readonly licenses?: ReadonlyArray<{
    readonly expression?: string
    readonly license?: { readonly id?: string; readonly name?: string }
  }>
}

export interface LicenseReport {
  readonly componentCount: number
  /** Packages whose license is not allowed, each with the license that it names. */
  readonly refused: ReadonlyArray<string>
}

/**
 * Whether an expression allows the use: OR leaves the choice to us, AND asks for both. Only one pair of parentheses around
 * all of it is read.
 */
const isAllowed = (expression: string): boolean =>
  expression
    .replace(/^\(([^()]*)\)$/, "$1")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((license) => ALLOWED.has(license)))

const licensesOf = ({ licenses = [], purl }: Component): ReadonlyArray<string> => {
  const named = licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name ?? "unnamed")
  const read = purl === undefined ? undefined : READ_BY_HAND[purl]
  return named.length === 0 && read !== undefined ? [read] : named
}

/** Reads the licenses of a software bill of materials (CycloneDX, JSON). */
export const readLicenses = (document: string): LicenseReport => {
  const { components = [] } = JSON.parse(document) as { readonly components?: ReadonlyArray<Component> }
  const refused = components.flatMap((component) => {
    const licenses = licensesOf(component)
    if (component.purl !== undefined && BUILD_ONLY.has(component.purl)) return []
    if (licenses.length > 0 && licenses.every(isAllowed)) return []
    return [`${component.purl ?? component.name}: ${licenses.join(", ") || "no license"}`]
  })
  return { componentCount: components.length, refused }
}
