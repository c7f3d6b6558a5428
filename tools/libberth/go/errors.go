// SPDX-License-Identifier: Apache-2.0

package berth

import "errors"

// Status is what kind of error it is: an enum berth_status.
type Status int

// Statuses, by the numbers of berth.h.
const (
	Invalid     Status = 1 // a wrong argument, or no transaction is open
	BadInput    Status = 2 // an object has errors; the others were applied
	NotFound    Status = 3 // there is no such object
	Limit       Status = 4 // a limit of libberth is reached
	Busy        Status = 5 // another goroutine uses the snapshot, or a transaction is open
	Unsupported Status = 8 // this build or release cannot do that
)

// Sentinels for errors.Is.
var (
	ErrInvalid     = errors.New("berth: invalid argument")
	ErrBadInput    = errors.New("berth: bad input")
	ErrNotFound    = errors.New("berth: not found")
	ErrLimit       = errors.New("berth: limit reached")
	ErrBusy        = errors.New("berth: busy")
	ErrUnsupported = errors.New("berth: unsupported")
)

var sentinels = map[Status]error{
	Invalid: ErrInvalid, BadInput: ErrBadInput, NotFound: ErrNotFound, Limit: ErrLimit, Busy: ErrBusy, Unsupported: ErrUnsupported,
}

// Error says which call failed, where, and what to do about it.
type Error struct {
	Status Status
	Op     string // the verb, and the object where there is one
	Text   string
}

func (e *Error) Error() string { return "berth: " + e.Op + ": " + e.Text }

// Is makes errors.Is(err, ErrNotFound) and the like work.
func (e *Error) Is(target error) bool { return sentinels[e.Status] == target }
