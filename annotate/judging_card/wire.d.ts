export interface DocumentPayload { doc_id: string; title: string; form: "text"|"preformatted"|"markup"; text: string|null; html: string|null; length: number; truncated: boolean; metadata: Record<string, unknown>; images: { src: string; alt: string; link: boolean }[]; excerpts: [number, number, string][] | null; calibration?: boolean; terms: [number,number][]; title_terms: [number,number][] }
export interface Opinion { annotator: string; kind: string; relevance: number|null; reason: string|null; note: string|null; flagged: boolean; passages: [number,number][]; quotes: string[]; seconds: number|null; judged_at: string }
export interface PlannedComparison { pair: [string,string]|null; then?: Record<string, PlannedComparison> }
export interface TopicPayload { query_id: string; title: string; description: string; narrative: string; pool: number|null; judged: number; without_text: number }
export interface TopicWords { query_id: string; title: string; description: string; narrative: string; note: string }
export interface Refused { uuid: string; reason: string }
export interface CalibrationFeedback { uuid: string; doc_id: string; title: string; relevance: number|null; settled: number; note: string|null }
