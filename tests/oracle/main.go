// Command oracle answers what Kubernetes' own code does with an input, so that what sundown writes again in Rust
// can be held against it. See README.md.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// An input with the answer that Kubernetes' code gives.
type vector struct {
	Input any `json:"input"`
	Want  any `json:"want"`
}

// A kind of question.
type kind struct {
	name string
	// Inputs that are always asked.
	edges func() []any
	// A random input.
	random func(*rand.Rand) any
	answer func(any) any
	// Answers are counted by class; each of these must occur.
	classes  []string
	classify func(any) string
}

func main() {
	klog.SetLogger(logr.Discard())
	if len(os.Args) < 2 {
		fail("usage: oracle generate --seed N --count N --out DIR | oracle apply | oracle validate")
	}
	switch os.Args[1] {
	case "generate":
		generate(os.Args[2:])
	case "apply":
		eachLine(apply)
	case "validate":
		eachLine(validate)
	default:
		fail("unknown command " + os.Args[1])
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}

func must[T any](value T, err error) T {
	if err != nil {
		fail(err.Error())
	}
	return value
}

func generate(arguments []string) {
	flags := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := flags.Int64("seed", 1, "seed of the random inputs")
	count := flags.Int("count", 300, "random inputs of each kind")
	out := flags.String("out", ".", "folder to write to")
	must(0, flags.Parse(arguments))
	must(0, os.MkdirAll(*out, 0o755))
	for _, kind := range kinds {
		random := rand.New(rand.NewSource(*seed))
		inputs := kind.edges()
		for range *count {
			inputs = append(inputs, kind.random(random))
		}
		write(kind, inputs, filepath.Join(*out, kind.name+".jsonl"))
	}
}

func write(kind kind, inputs []any, path string) {
	file := must(os.Create(path))
	defer file.Close()
	lines := bufio.NewWriter(file)
	defer lines.Flush()
	seen := map[string]int{}
	for _, input := range inputs {
		// Through JSON once, so that what is asked is what is written.
		text := must(json.Marshal(input))
		var plain any
		must(0, json.Unmarshal(text, &plain))
		want := kind.answer(plain)
		seen[kind.classify(want)]++
		fmt.Fprintln(lines, string(must(json.Marshal(vector{Input: json.RawMessage(text), Want: want}))))
	}
	fmt.Printf("%-15s %5d inputs, answers %v\n", kind.name, len(inputs), seen)
	for _, class := range kind.classes {
		if seen[class] == 0 {
			fail(kind.name + ": the answer " + class + " never occurs")
		}
	}
}

// Answers each JSON line of standard input with one of standard output.
func eachLine(answer func(map[string]any) any) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var input map[string]any
		must(0, json.Unmarshal(lines.Bytes(), &input))
		fmt.Println(string(must(json.Marshal(answer(input)))))
	}
	must(0, lines.Err())
}

// Reads a JSON value that was decoded without a type into one with a type.
func into[T any](value any) T {
	var typed T
	must(0, json.Unmarshal(must(json.Marshal(value)), &typed))
	return typed
}
