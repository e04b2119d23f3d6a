import { beforeEach } from 'vitest'
import { noteWhatIsOpen } from './processes.ts'

beforeEach(noteWhatIsOpen)
